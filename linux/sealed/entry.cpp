// The first code of the static program, which runs before libc starts.
//
// The commands create, run and exec must not run from the host's executable (executable.hpp says
// why), so they run from a sealed image of the executable. In main() this would cost a second start
// of libc and a copy of two megabytes. The code below avoids both costs: an earlier command has
// kept a copy (kept_image.hpp), and an overlay without an upper layer shows that copy. All
// processes share the pages of the copy, and nobody can write to the copy through the overlay, not
// even root of the host. The code maps the copy over the program (mappings.hpp), or where the
// kernel does not allow this, executes the copy. The overlay must not show the host's executable
// itself: overwriting that file in place (cp) would then change the code of every process that runs
// from the overlay, because the kernel's ETXTBSY protects only the overlay's inode. If a step below
// fails, main() begins as usual and makes a copy in memory.
//
// The code before libc must not call functions of libc: the program is not relocated yet and has no
// thread pointer (CMake turns the stack protector off for it). The code makes raw system calls
// only, and has no tables of pointers.
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <cstddef>

#include "linux/sealed/initial_stack.hpp"
#include "linux/sealed/kept_image.hpp"
#include "linux/sealed/mappings.hpp"
#include "linux/sealed/system_call.hpp"

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
  call ocirun_before_libc
  mov %rbx, %rsp
  mov %r12, %rdx
  jmp _start
)");
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
  bl ocirun_before_libc
  mov sp, x19
  mov x0, x20
  b _start
)");
#endif

constexpr char kMarker[] = "_OCIRUN_DIRECTORY=";  // executable.cpp reads this variable
constexpr std::size_t kMostVariables = 1024;

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

// Whether the command may be create, run or exec, which run from an image. A wrong `true` only
// costs time. After a wrong `false`, main() makes the copy in memory.
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

// The value of the first variable of this name ("NAME="), or a null pointer.
const char* value_of(const char* const* environment, const char* name, std::size_t length) {
  for (; *environment != nullptr; ++environment)
    if (starts_with(*environment, name)) return *environment + length;
  return nullptr;
}

bool read_executable_directory(char (&path)[kLongestPath]) {
  const long length =
      system_call(SYS_readlinkat, AT_FDCWD, address("/proc/self/exe"), address(path), sizeof path);
  if (length <= 0 || length == static_cast<long>(sizeof path)) return false;
  char* end = path + length - 1;
  while (end > path && *end != '/') --end;
  *end = '\0';
  return true;
}

// Whether the image has the size and the beginning of the running executable. The size finds a
// truncated image. The beginning finds another version: an executable in a squashfs may have the
// device, inode, size and ctime of its older version.
bool is_copy(long image, const struct statx& executable) {
  struct statx status;
  return system_call(SYS_statx, image, address(""), AT_EMPTY_PATH, STATX_SIZE, address(&status)) ==
             0 &&
         status.stx_size == executable.stx_size && begins_as_this_program(image);
}

// Executes the image, and passes `directory`, the executable's, in _OCIRUN_DIRECTORY. Returns on an
// error, and if there are more than kMostVariables variables.
void execute_image(long mount, const char* name, const InitialStack& stack, const char* directory) {
  char marker[sizeof kMarker + kLongestPath];
  append(append(marker, kMarker), directory);
  const char* variables[kMostVariables + 2];
  std::size_t count = 0;
  for (; stack.environment[count] != nullptr; ++count) {
    if (count == kMostVariables) return;
    variables[count] = stack.environment[count];
  }
  variables[count] = marker;
  variables[count + 1] = nullptr;
  system_call(SYS_execveat, mount, address(name), address(stack.argv), address(variables), 0);
}

// Maps or executes the image, if the command needs one. Does not return if the image is executed.
void run_from_image(const InitialStack& stack) {
  char path[kLongestPath];
  struct statx executable;
  char name[kLongestImageName];
  if (!may_enter_a_namespace(stack.argv) ||
      value_of(stack.environment, kMarker, sizeof kMarker - 1) != nullptr ||
      !read_executable_directory(path) ||
      system_call(SYS_geteuid, 0) != 0 ||  // only root can mount the overlay
      system_call(SYS_statx, AT_FDCWD, address("/proc/self/exe"), 0, STATX_BASIC_STATS,
                  address(&executable)) != 0)
    return;
  append_image_name(name, executable);
  const long directory = open_images(
      value_of(stack.environment, kRuntimeDirectoryVariable, sizeof kRuntimeDirectoryVariable - 1));
  const long mount = directory >= 0 ? mount_overlay(directory) : -1;
  const long image =
      mount >= 0 ? system_call(SYS_openat, mount, address(name), O_RDONLY | O_CLOEXEC) : -1;
  if (image < 0) {
    ocirun_kept_image = KeptImage::kMissing;
  } else if (!is_copy(image, executable)) {
    ocirun_kept_image = KeptImage::kWrong;
  } else if (map_image(image, stack)) {
    ocirun_kept_image = KeptImage::kMapped;
    append(ocirun_directory, path);
  } else {
    execute_image(mount, name, stack, path);
  }
  // Open descriptors would look like descriptors that the caller wants to pass to the container.
  for (const long descriptor : {image, mount, directory})
    if (descriptor >= 0) system_call(SYS_close, descriptor);
}

}  // namespace

// `stack` is where the stack pointer of the new process points to.
extern "C" [[gnu::used]] void ocirun_before_libc(const long* stack) {
  run_from_image(read_stack(stack));
  populate_data();
}
