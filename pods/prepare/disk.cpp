#include "pods/prepare/disk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/devices.hpp"
#include "pods/plan/admission.hpp"
#include "pods/prepare/mounts.hpp"
#include "pods/prepare/program.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

/// A filesystem for files that nobody needs after a crash: without a journal, and without a reserve
/// for root.
Result<void> make_filesystem(const std::string& path) {
  const std::string program = find_program("mkfs.ext4");
  if (program.empty())
    return refuse(
        "a limit on disk needs the program mkfs.ext4 (Debian's package e2fsprogs), which "
        "is not installed; \"medium: Memory\" needs none");
  const std::vector<std::string> words{program, "-q", "-F", "-m", "0", "-O", "^has_journal", path};
  return within(run_program(words), program);
}

}  // namespace

Result<UniqueFd> mount_new_disk(const Site& site, const std::string& name, std::uint64_t bytes) {
  if (bytes < kLeastDisk)
    return refuse(
        "a limit on disk must be at least {}, not {}; with \"medium: Memory\" it may be "
        "smaller",
        bytes_text(kLeastDisk), bytes_text(bytes));
  TRY_ASSIGN(const UniqueFd target, sys::openat(site.fd, name.c_str(), kOpenDirectory));
  const std::string image = name + ".disk";
  TRY_ASSIGN(const UniqueFd file,
             sys::openat(site.fd, image.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    return fail(errno, "make a file of {}", bytes_text(bytes));
  TRY(make_filesystem(fmt::format("{}/{}", site.path, image)));
  TRY_ASSIGN(const UniqueFd device, linux::attach_loop_device(file));
  TRY(within(mount_disk(device, target), "mount the filesystem of the volume"));
  TRY_ASSIGN(UniqueFd root, sys::openat(site.fd, name.c_str(), kOpenDirectory));
  TRY(sys::unlinkat(root, "lost+found", AT_REMOVEDIR));  // some programs want an empty directory
  return root;
}

}  // namespace ocirun::pods
