#include "runtime/state/net_pin.hpp"

#include <fcntl.h>
#include <linux/magic.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {
namespace {

// Opens kNetworkPin with O_PATH, because the file may be of any kind. Empty if there is no file.
Result<UniqueFd> find_pin(Fd directory) {
  auto file = linux::sys::openat(directory, kNetworkPin, O_PATH | O_NOFOLLOW);
  if (!file && file.error().number() == ENOENT) return UniqueFd();
  return file;
}

// Whether a namespace is mounted on the file.
Result<bool> is_mounted(Fd pin) {
  OCIRUN_TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(pin));
  return filesystem.magic == NSFS_MAGIC;
}

// A directory of that name is no error: StateDirectory::remove() removes the directory.
Result<void> remove_file(Fd directory) {
  auto removed = linux::sys::unlinkat(directory, kNetworkPin, 0);
  if (!removed && (removed.error().number() == ENOENT || removed.error().number() == EISDIR))
    return {};
  return removed;
}

}  // namespace

Result<PinOutcome> pin_network(Fd directory, Fd network_namespace) {
  const auto pin = [&]() -> Result<PinOutcome> {
    OCIRUN_TRY_ASSIGN(
        const UniqueFd file,
        linux::sys::openat(directory, kNetworkPin, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    const auto mounted =
        linux::sys::mount(linux::host_fd_link(network_namespace).c_str(),
                          linux::host_fd_link(file).c_str(), nullptr, MS_BIND, nullptr);
    if (mounted) return PinOutcome::kPinned;
    OCIRUN_TRY(remove_file(directory));
    if (mounted.error().number() == EPERM || mounted.error().number() == EACCES)
      return PinOutcome::kNotPermitted;
    return std::unexpected(mounted.error());
  };
  return within(pin(), "keep the container's network namespace");
}

Result<UniqueFd> pinned_network(Fd directory) {
  OCIRUN_TRY_ASSIGN(const UniqueFd pin, find_pin(directory));
  if (!pin) return UniqueFd();
  OCIRUN_TRY_ASSIGN(const bool is_namespace, is_mounted(pin));
  if (!is_namespace)
    return refuse(
        "{} is not the container's network namespace here, because ocirun mounted it in "
        "another mount namespace: run delete --force there, or remove this file and lose the "
        "network devices",
        kNetworkPin);
  return linux::sys::open(linux::host_fd_link(pin).c_str(), O_RDONLY);
}

Result<void> unpin_network(Fd directory) {
  const auto unpin = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const UniqueFd pin, find_pin(directory));
    if (!pin) return {};
    OCIRUN_TRY_ASSIGN(const bool is_namespace, is_mounted(pin));
    if (is_namespace)
      OCIRUN_TRY(linux::sys::unmount(linux::host_fd_link(pin).c_str(), linux::sys::kDetach));
    return remove_file(directory);
  };
  return within(unpin(), "unmount the container's network namespace");
}

}  // namespace ocirun::runtime
