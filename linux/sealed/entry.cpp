// The first code of the static program, which runs before libc starts.
//
// The commands create, run and exec must not run from the host's executable (executable.hpp says
// why), so they execute a sealed image of the executable. In main() this would cost a second start
// of libc and a copy of two megabytes. The code below avoids both costs: an earlier command has
// kept a copy (kept_image.hpp), and an overlay without an upper layer shows that copy. All
// processes share the pages of the copy, and nobody can write to the copy through the overlay, not
// even root of the host. The overlay must not show the host's executable itself: overwriting that
// file in place (cp) would then change the code of every process that runs from the overlay,
// because the kernel's ETXTBSY protects only the overlay's inode. If a step below fails, main()
// begins as usual and makes a copy in memory.
//
// This file must not call functions of libc: the program is not relocated yet and has no thread
// pointer (CMake turns the stack protector off for this file). The code makes raw system calls
// only, and has no tables of pointers.
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <cstddef>

#include "linux/sealed/kept_image.hpp"

using namespace ocirun::linux;

namespace {

#if defined(__x86_64__)
asm(R"(
  .text
  .globl ocirun_entry
  .type ocirun_entry, @function
ocirun_entry:
  endbr64
  xor %ebp, %ebp
  mov %rsp, %rbx
  mov %rdx, %r12
  mov %rsp, %rdi
  call ocirun_execute_sealed_overlay
  mov %rbx, %rsp
  mov %r12, %rdx
  jmp _start
)");

long system_call(long number, long a, long b = 0, long c = 0, long d = 0, long e = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
asm(R"(
  .text
  .globl ocirun_entry
  .type ocirun_entry, %function
ocirun_entry:
  bti c
  mov x29, #0
  mov x30, #0
  mov x19, sp
  mov x20, x0
  mov x0, sp
  bl ocirun_execute_sealed_overlay
  mov sp, x19
  mov x0, x20
  b _start
)");

long system_call(long number, long a, long b = 0, long c = 0, long d = 0, long e = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
}
#endif

constexpr char kMarker[] = "_OCIRUN_DIRECTORY=";  // executable.cpp reads this variable
constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kMostVariables = 1024;

long address(const void* pointer) { return reinterpret_cast<long>(pointer); }
long address(const char* const* list) { return reinterpret_cast<long>(list); }

bool starts_with(const char* text, const char* start) {
  while (*start != '\0' && *text == *start) ++text, ++start;
  return *start == '\0';
}

bool equal(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

// Appends to a buffer that is known to be large enough, and adds a NUL.
char* append(char* end, const char* text) {
  while (*text != '\0') *end++ = *text++;
  *end = '\0';
  return end;
}

// A wrong `true` only costs time. After a wrong `false`, main() makes the copy in memory.
bool may_enter_a_namespace(const char* const* argv) {
  for (; *argv != nullptr; ++argv) {
    if (equal(*argv, "pod")) return false;  // `ocirun pod` has commands of the same names
    if (equal(*argv, "create") || equal(*argv, "run") || equal(*argv, "exec")) return true;
  }
  return false;
}

// Returns the mount, or a negative number on an error. Without an upper layer the kernel demands at
// least two lower layers. The second one is /sys/kernel, which has no file with the name of an
// image. The first one is named by its descriptor, because a path might need escapes.
long mount_overlay(long directory) {
  char layers[64];
  append(append_number(append(layers, "/proc/self/fd/"), static_cast<unsigned long>(directory)),
         ":/sys/kernel");
  const long context = system_call(SYS_fsopen, address("overlay"), FSOPEN_CLOEXEC);
  if (context < 0) return context;
  long mount = -1;
  if (system_call(SYS_fsconfig, context, FSCONFIG_SET_STRING, address("lowerdir"),
                  address(layers)) == 0 &&
      system_call(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, 0, 0) == 0)
    mount = system_call(SYS_fsmount, context, FSMOUNT_CLOEXEC,
                        MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  system_call(SYS_close, context);
  return mount;
}

// Opens the directory of images if root owns it and its mode is 0700. Otherwise returns a negative
// number.
long open_image_directory(long above, const char* name) {
  const long directory =
      system_call(SYS_openat, above, address(name), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return directory;
  struct statx status;
  if (system_call(SYS_statx, directory, address(""), AT_EMPTY_PATH, STATX_BASIC_STATS,
                  address(&status)) == 0 &&
      is_image_directory(status, 0))
    return directory;
  system_call(SYS_close, directory);
  return -1;
}

long open_images(const char* runtime_directory) {
  const long directory = open_image_directory(AT_FDCWD, kImageDirectory);
  if (directory >= 0 || runtime_directory == nullptr || *runtime_directory != '/') return directory;
  const long above = system_call(SYS_openat, AT_FDCWD, address(runtime_directory),
                                 O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (above < 0) return above;
  struct statx status;
  struct statfs filesystem;
  long below = -1;
  // With sudo, XDG_RUNTIME_DIR may be on a filesystem of another user, which may report any owner.
  if (system_call(SYS_statx, above, address(""), AT_EMPTY_PATH, STATX_BASIC_STATS,
                  address(&status)) == 0 &&
      system_call(SYS_fstatfs, above, address(&filesystem)) == 0 &&
      may_hold_images(status, static_cast<unsigned long>(filesystem.f_type), 0))
    below = open_image_directory(above, kImageDirectoryName);
  system_call(SYS_close, above);
  return below;
}

}  // namespace

// `stack` is the initial stack of the process: argc, argv, NULL, environment, NULL. Returns if no
// image is needed, or if no image can be executed.
extern "C" [[gnu::used]] void ocirun_execute_sealed_overlay(const long* stack) {
  const long argc = stack[0];
  const auto* const argv = reinterpret_cast<const char* const*>(stack + 1);
  const auto* const environment = argv + argc + 1;
  if (!may_enter_a_namespace(argv)) return;

  char marker[sizeof kMarker + kLongestPath];
  const char* variables[kMostVariables + 2];
  const char* runtime_directory = nullptr;
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (count == kMostVariables || starts_with(environment[count], kMarker)) return;
    if (starts_with(environment[count], kRuntimeDirectoryVariable))
      runtime_directory = environment[count] + sizeof kRuntimeDirectoryVariable - 1;
    variables[count] = environment[count];
  }
  variables[count] = marker;
  variables[count + 1] = nullptr;

  char* const path = append(marker, kMarker);
  const long length =
      system_call(SYS_readlinkat, AT_FDCWD, address("/proc/self/exe"), address(path), kLongestPath);
  if (length <= 0 || length == static_cast<long>(kLongestPath)) return;
  char* end = path + length;
  while (end > path && *end != '/') --end;
  *end = '\0';

  struct statx executable;
  char name[kLongestImageName];
  if (system_call(SYS_geteuid, 0) != 0 ||  // only root can mount the overlay
      system_call(SYS_statx, AT_FDCWD, address("/proc/self/exe"), 0, STATX_BASIC_STATS,
                  address(&executable)) != 0)
    return;
  append_image_name(name, executable);
  ocirun_image_is_missing = true;  // a successful execveat() below discards this memory
  const long directory = open_images(runtime_directory);
  if (directory < 0) return;
  const long mount = mount_overlay(directory);
  if (mount >= 0)
    system_call(SYS_execveat, mount, address(name), address(argv), address(variables), 0);
  // Open descriptors would look like descriptors that the caller wants to pass to the container.
  system_call(SYS_close, mount);
  system_call(SYS_close, directory);
}
