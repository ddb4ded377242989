#include "linux/sealed/executable.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "linux/base/syscalls.hpp"
#include "linux/sealed/kept_image.hpp"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x0020
#endif

// Of entry.cpp: null in builds without that file.
extern "C" [[gnu::weak]] void ocirun_before_libc(const long* stack);

namespace ocirun::linux {
namespace {

constexpr char kImageName[] = "ocirun";
constexpr char kDirectoryVariable[] = "_OCIRUN_DIRECTORY";  // passed across the re-execution
constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

// The directory of the host's executable. The process that executed the sealed image has passed the
// directory on in kDirectoryVariable.
std::string& told_directory() {
  static std::string directory;
  return directory;
}

/// Also unsets the variable: a hook inherits the environment, and an ocirun that the hook runs
/// would trust the variable.
void learn_directory() {
  if (const char* told = std::getenv(kDirectoryVariable)) told_directory() = told;
  ::unsetenv(kDirectoryVariable);
}

std::string link_of_executable() {
  std::array<char, PATH_MAX> path;
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length <= 0 ? "" : std::string(path.data(), static_cast<std::size_t>(length));
}

// Whether entry.cpp may have executed `executable`: a file at the root of a read-only overlay that
// is mounted nowhere.
bool is_in_detached_overlay(Fd executable) {
  struct statfs filesystem{};
  if (::fstatfs(executable.value, &filesystem) != 0 || filesystem.f_type != OVERLAYFS_SUPER_MAGIC ||
      (filesystem.f_flags & ST_RDONLY) == 0)
    return false;
  const std::string link = link_of_executable();
  if (link.rfind('/') != 0) return false;
  const auto ours = sys::fstat(executable);
  const auto there = sys::open(link.c_str(), O_PATH);
  if (!there) return true;
  const auto seen = sys::fstat(*there);
  return ours && seen && ours->st_dev != seen->st_dev;
}

bool is_sealed(Fd executable) {
  const int seals = ::fcntl(executable.value, F_GET_SEALS);
  if (seals >= 0) return (seals & kSeals) == kSeals;
  return is_in_detached_overlay(executable);
}

// MFD_EXEC and F_SEAL_EXEC exist since Linux 6.3; before, every memfd is executable.
Result<UniqueFd> make_memory_file() {
  UniqueFd fd(::memfd_create(kImageName, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC));
  if (!fd && errno == EINVAL) fd.reset(::memfd_create(kImageName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd)
    return fail(
        errno,
        "make a memory file for the sealed executable (sysctl vm.memfd_noexec must be below 2)");
  return fd;
}

}  // namespace

Result<UniqueFd> copy_sealed(Fd executable) {
  struct stat status{};
  if (::fstat(executable.value, &status) != 0) return fail(errno, "stat the executable");
  TRY_ASSIGN(UniqueFd copy, make_memory_file());
  off_t offset = 0;
  while (offset < status.st_size) {
    const ssize_t count = ::sendfile(copy.get(), executable.value, &offset,
                                     static_cast<std::size_t>(status.st_size - offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(count == 0 ? EIO : errno, "copy the executable");
  }
  if (::fcntl(copy.get(), F_ADD_SEALS, kSeals | F_SEAL_EXEC) != 0 &&
      ::fcntl(copy.get(), F_ADD_SEALS, kSeals) != 0)
    return fail(errno, "seal the executable");
  return copy;
}

Result<void> reexec_sealed(char* const argv[]) {
  if (ocirun_kept_image == KeptImage::kMapped) {
    ::prctl(PR_SET_NAME, kImageName);  // else the name is that of the file
    return {};
  }
  TRY_ASSIGN(const UniqueFd executable, sys::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (is_sealed(executable)) {
    ::prctl(PR_SET_NAME, kImageName);  // else the name is "memfd:…" or a number
    learn_directory();
    return {};
  }
  ::setenv(kDirectoryVariable, executable_directory().c_str(), 1);
  struct statx status{};
  const bool is_known =
      ::statx(executable.get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) == 0;
  TRY_ASSIGN(const UniqueFd copy, copy_sealed(executable));
  const bool may_keep =
      ocirun_kept_image == KeptImage::kMissing || ocirun_kept_image == KeptImage::kWrong;
  if (may_keep && is_known) keep_image(copy, status);
  ::fexecve(copy.get(), argv, environ);
  return fail(errno, "execute the sealed copy of the executable");
}

namespace {

std::string find_directory() {
  if (ocirun_kept_image == KeptImage::kMapped) return ocirun_directory;
  // Only a sealed image trusts the environment variable, because ocirun has set the variable for
  // the image. ocirun executes its other programs from that directory.
  const auto executable = sys::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (executable && is_sealed(*executable)) {
    learn_directory();
    return told_directory();
  }
  const std::string path = link_of_executable();
  return path.substr(0, path.empty() ? 0 : path.rfind('/'));
}

}  // namespace

std::string executable_directory() {
  static std::string known;
  if (known.empty()) known = find_directory();
  return known;
}

std::string_view way_of_sealed_execution() {
  return ocirun_before_libc != nullptr ? "overlay" : "memory";
}

}  // namespace ocirun::linux
