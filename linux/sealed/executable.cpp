#include "linux/sealed/executable.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <vector>

#include "linux/base/outer_filter.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/sealed/detached_copy.hpp"
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

/// Takes the directory from kDirectoryVariable, and unsets the variable: a hook inherits the
/// environment, and an ocirun that the hook runs would trust the variable.
void learn_directory() {
  if (const char* told = std::getenv(kDirectoryVariable)) told_directory() = told;
  ::unsetenv(kDirectoryVariable);
}

std::string link_of_executable() {
  std::array<char, PATH_MAX> path;
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length <= 0 ? "" : std::string(path.data(), static_cast<std::size_t>(length));
}

// Whether `executable` is a file at the root of a read-only filesystem that is mounted nowhere: of
// an overlay if entry.cpp has executed it, of a tmpfs if it is a copy of copy_to_detached_tmpfs().
bool is_in_detached_mount(Fd executable) {
  struct statfs filesystem{};
  if (::fstatfs(executable.value, &filesystem) != 0 ||
      (filesystem.f_type != OVERLAYFS_SUPER_MAGIC && filesystem.f_type != TMPFS_MAGIC) ||
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
  return (seals >= 0 && (seals & kSeals) == kSeals) || is_in_detached_mount(executable);
}

// MFD_EXEC and F_SEAL_EXEC exist since Linux 6.3; before, every memfd is executable.
Result<UniqueFd> make_executable_file() {
  UniqueFd fd(::memfd_create(kImageName, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC));
  if (!fd && errno == EINVAL) fd.reset(::memfd_create(kImageName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd) return fd;
  if (errno == EACCES) return sys::last_error("the sysctl vm.memfd_noexec is 2");
  return failed_call(SYS_memfd_create, "memfd_create");
}

Result<UniqueFd> copy_to_memory(Fd executable) {
  OCIRUN_TRY_ASSIGN(const struct stat status, sys::fstat(executable));
  OCIRUN_TRY_ASSIGN(UniqueFd copy, make_executable_file());
  OCIRUN_TRY(copy_content(executable, copy, static_cast<std::size_t>(status.st_size)));
  if (::fcntl(copy.get(), F_ADD_SEALS, kSeals | F_SEAL_EXEC) != 0 &&
      ::fcntl(copy.get(), F_ADD_SEALS, kSeals) != 0)
    return fail(errno, "seal the executable");
  return copy;
}

/// A place for a copy of the executable. An error of one place says nothing about the others.
struct Place {
  std::string_view name;
  Result<UniqueFd> (*copy_to)(Fd executable);
};
constexpr Place kPlaces[] = {{"a file in memory", copy_to_memory},
                             {"a tmpfs that is mounted nowhere", copy_to_detached_tmpfs}};

std::string reason(std::string_view place, const Error& error) {
  return fmt::format("{}: {}", place, error.message());
}

/// Why this process does not run from a kept image.
std::string why_no_kept_image(Fd executable, const struct statx* status) {
  if (ocirun_before_libc == nullptr) return "this build keeps no image there";
  if (::geteuid() != 0) return "only root can run from it";
  if (ocirun_kept_image == KeptImage::kUnused || status == nullptr)
    return "it is not for this command, or cannot run";
  const Result<void> kept = keep_image(executable, *status);
  return kept ? "no overlay can be mounted that shows it" : kept.error().message();
}

/// Executes a copy. Returns why no copy could be executed.
std::vector<std::string> execute_copy(Fd executable, char* const argv[]) {
  std::vector<std::string> reasons;
  struct statx status{};
  const bool is_known =
      ::statx(executable.value, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) == 0;
  for (const Place& place : kPlaces) {
    auto copy = place.copy_to(executable);
    if (copy) {
      if (is_known && ocirun_kept_image != KeptImage::kUnused)
        ignore(keep_image(*copy, status));  // later commands run from the kept image
      ::fexecve(copy->get(), argv, environ);
      copy = fail(errno, "execute it");
    }
    reasons.push_back(reason(place.name, copy.error()));
  }
  reasons.push_back(fmt::format("{}: {}", kImageDirectory,
                                why_no_kept_image(executable, is_known ? &status : nullptr)));
  return reasons;
}

}  // namespace

Result<UniqueFd> copy_sealed(Fd executable) {
  std::vector<std::string> reasons;
  for (const Place& place : kPlaces) {
    auto copy = place.copy_to(executable);
    if (copy) return copy;
    reasons.push_back(reason(place.name, copy.error()));
  }
  return refuse("no place for a sealed copy of the program: {}", fmt::join(reasons, "; "));
}

Result<void> reexec_sealed(char* const argv[]) {
  if (ocirun_kept_image == KeptImage::kMapped) {
    ::prctl(PR_SET_NAME, kImageName);  // else the name is that of the file
    return {};
  }
  OCIRUN_TRY_ASSIGN(const UniqueFd executable, sys::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (is_sealed(executable)) {
    ::prctl(PR_SET_NAME, kImageName);  // else the name is "memfd:…" or a number
    learn_directory();
    return {};
  }
  ::setenv(kDirectoryVariable, executable_directory().c_str(), 1);
  return refuse("no sealed copy of the executable can run: {}",
                fmt::join(execute_copy(executable, argv), "; "));
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
