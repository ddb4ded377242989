#include "runtime/state/namespace_pins.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>

#include <cerrno>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/detached_mount.hpp"

namespace ocirun::runtime {
namespace {

Result<UniqueFd> open_place(const HostPath& directory, bool& is_new) {
  constexpr mode_t kOwnerAlone = 0700;
  const auto made = linux::sys::mkdirat(Fd{AT_FDCWD}, directory.c_str(), kOwnerAlone);
  if (!made && made.error().number() != EEXIST) return std::unexpected(made.error());
  is_new = made.has_value();
  OCIRUN_TRY_ASSIGN(UniqueFd place,
                    linux::sys::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  bool is_empty = true;
  OCIRUN_TRY(linux::for_each_entry(place, [&](const char*, unsigned char) -> Result<void> {
    is_empty = false;
    return {};
  }));
  if (!is_empty) return refuse("is not empty: choose a directory of its own for the container");
  return place;
}

Result<void> pin(Fd tmpfs, int pid, linux::NamespaceKind kind, Fd procfs) {
  const std::string name(linux::proc_name(kind));
  OCIRUN_TRY_ASSIGN(const UniqueFd space, linux::open_namespace(procfs, pid, kind));
  OCIRUN_TRY_ASSIGN(const UniqueFd file,
                    linux::sys::openat(tmpfs, name.c_str(), O_RDONLY | O_CREAT | O_EXCL, 0400));
  return within(
      linux::sys::mount(linux::host_fd_link(space).c_str(), linux::host_fd_link(file).c_str(),
                        nullptr, MS_BIND, nullptr),
      "{}", name);
}

}  // namespace

Result<NamespacePins> NamespacePins::make(const HostPath& directory) {
  const auto make = [&]() -> Result<NamespacePins> {
    bundle::NamespacePinRecord record{.directory = directory.string()};
    OCIRUN_TRY_ASSIGN(UniqueFd place, open_place(directory, record.is_new_directory));
    OCIRUN_TRY_ASSIGN(
        linux::DetachedMount made,
        linux::DetachedMount::of_tmpfs("0700", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                                   MOUNT_ATTR_NOEXEC));
    UniqueFd tmpfs = std::move(made).release();
    OCIRUN_TRY_ASSIGN(record.mount, linux::sys::mount_id(tmpfs));
    return NamespacePins(std::move(place), std::move(tmpfs), std::move(record));
  };
  return within(make(), "--pin-namespaces {}", directory.string());
}

Result<void> NamespacePins::mount(int pid, const linux::NamespaceSet& namespaces) const {
  const auto act = [&]() -> Result<void> {
    OCIRUN_TRY(linux::sys::move_mount(tmpfs_, place_));
    // Otherwise each pin would be copied into other mount namespaces, where it would live on.
    OCIRUN_TRY(linux::sys::mount(nullptr, linux::host_fd_link(tmpfs_).c_str(), nullptr,
                                 MS_PRIVATE, nullptr));
    OCIRUN_TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::of_host());
    for (const linux::Namespace& entry : namespaces.entries())
      if (!entry.path) OCIRUN_TRY(pin(tmpfs_, pid, entry.kind, procfs.fd()));
    return {};
  };
  return within(act(), "--pin-namespaces {}", record_.directory);
}

Result<PinsFound> remove_pins(const bundle::NamespacePinRecord& record) {
  const auto unmount = [&]() -> Result<PinsFound> {
    const auto top = linux::sys::open(record.directory.c_str(), O_PATH | O_DIRECTORY);
    if (!top) return PinsFound::kNone;
    OCIRUN_TRY_ASSIGN(const std::uint64_t mount, linux::sys::mount_id(*top));
    if (mount == 0 || mount != record.mount) return PinsFound::kNone;
    // Through the descriptor, because another mount may cover the path meanwhile.
    OCIRUN_TRY(within(linux::sys::unmount(linux::host_fd_link(*top).c_str(), linux::sys::kDetach),
                      "unmount {}", record.directory));
    return PinsFound::kUnmounted;
  };
  OCIRUN_TRY_ASSIGN(const PinsFound found, unmount());
  if (record.is_new_directory)
    ignore(linux::sys::unlinkat(Fd{AT_FDCWD}, record.directory.c_str(), AT_REMOVEDIR));
  return found;
}

}  // namespace ocirun::runtime
