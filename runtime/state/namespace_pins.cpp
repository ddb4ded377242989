#include "runtime/state/namespace_pins.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/detached_mount.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::string_view kOfMounts = "mnt";

/// The kernel compares the numbers of namespaces. Linux 6.18 gives each processor numbers of its
/// own.
constexpr std::string_view kYounger =
    "the kernel mounts a mount namespace only in an older one, and takes the container's for older "
    "than ocirun's: run ocirun in the first mount namespace of the host, or make both namespaces "
    "on one processor (taskset)";

struct Place {
  UniqueFd parent, directory;  // no directory: it is missing
  std::string name;            // in `parent`
};

/// Errors: the directory is not empty; its parent is missing.
Result<Place> find_place(const HostPath& directory) {
  std::string text = directory.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  const HostPath path(text);
  Place place;
  OCIRUN_TRY_ASSIGN(place.parent, within(linux::open_parent(path), "its parent directory"));
  place.name = path.string().substr(path.string().rfind('/') + 1);
  auto opened = linux::sys::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (is_missing(opened)) return place;
  if (!opened) return std::unexpected(opened.error());
  bool is_empty = true;
  OCIRUN_TRY(linux::for_each_entry(*opened, [&](const char*, unsigned char) -> Result<void> {
    is_empty = false;
    return {};
  }));
  if (!is_empty) return refuse("is not empty: choose a directory of its own for the container");
  place.directory = *std::move(opened);
  return place;
}

/// The path without symlinks, which somebody may change until `delete`.
Result<std::string> path_of(const Place& place) {
  const Fd opened = place.directory ? Fd(place.directory) : Fd(place.parent);
  OCIRUN_TRY_ASSIGN(std::string path,
                    linux::sys::readlinkat(Fd{AT_FDCWD}, linux::host_fd_link(opened).c_str()));
  if (place.directory) return path;
  return path + (path == "/" ? "" : "/") + place.name;
}

Result<void> set_propagation(Fd mount, unsigned long propagation) {
  return linux::sys::mount(nullptr, linux::host_fd_link(mount).c_str(), nullptr, propagation,
                           nullptr);
}

/// A file of the tmpfs for one namespace. The kernel mounts a mount namespace only where no copy of
/// the mount would be made: on a private mount of the file on itself.
Result<UniqueFd> make_file(Fd tmpfs, const std::string& name) {
  OCIRUN_TRY_ASSIGN(UniqueFd file,
                    linux::sys::openat(tmpfs, name.c_str(), O_RDONLY | O_CREAT | O_EXCL, 0400));
  if (name != kOfMounts) return file;
  const std::string link = linux::host_fd_link(file);
  OCIRUN_TRY(linux::sys::mount(link.c_str(), link.c_str(), nullptr, MS_BIND, nullptr));
  OCIRUN_TRY_ASSIGN(UniqueFd top, linux::sys::openat(tmpfs, name.c_str(), O_PATH));
  OCIRUN_TRY(set_propagation(top, MS_PRIVATE));
  return top;
}

Result<void> pin(Fd tmpfs, int pid, linux::NamespaceKind kind, Fd procfs) {
  const std::string name(linux::proc_name(kind));
  const auto act = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const UniqueFd space, linux::open_namespace(procfs, pid, kind));
    OCIRUN_TRY_ASSIGN(const UniqueFd file, make_file(tmpfs, name));
    auto mounted = linux::sys::mount(linux::host_fd_link(space).c_str(),
                                     linux::host_fd_link(file).c_str(), nullptr, MS_BIND, nullptr);
    const bool is_younger = !mounted && name == kOfMounts && mounted.error().number() == EINVAL;
    return is_younger ? within(std::move(mounted), "{}", kYounger) : mounted;
  };
  return within(act(), "{}", name);
}

/// Unmounts all that lies on the files. A mount of `tmpfs` in another mount namespace loses the
/// same mounts if it receives the changes of this one.
void unmount_files(Fd tmpfs) {
  constexpr int kMostLayers = 4;
  for (const linux::NamespaceKind kind : linux::kNamespaceKinds) {
    const std::string path = linux::host_fd_link(tmpfs) + "/" + std::string(linux::proc_name(kind));
    for (int layer = 0; layer < kMostLayers; ++layer)
      if (!linux::sys::unmount(path.c_str(), linux::sys::kDetach | UMOUNT_NOFOLLOW)) break;
  }
}

}  // namespace

Result<NamespacePins> NamespacePins::plan(const HostPath& directory) {
  const auto act = [&]() -> Result<NamespacePins> {
    NamespacePins pins;
    OCIRUN_TRY_ASSIGN(Place place, find_place(directory));
    OCIRUN_TRY_ASSIGN(pins.record_.directory, path_of(place));
    pins.record_.is_new_directory = !place.directory;
    pins.parent_ = std::move(place.parent);
    pins.place_ = std::move(place.directory);
    pins.name_ = std::move(place.name);
    OCIRUN_TRY_ASSIGN(linux::DetachedMount made,
                      linux::DetachedMount::of_tmpfs(
                          "0700", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC));
    pins.tmpfs_ = std::move(made).release();
    OCIRUN_TRY_ASSIGN(pins.record_.mount, linux::sys::mount_id(pins.tmpfs_));
    if (pins.record_.mount == 0)
      return refuse("needs Linux 5.8, whose mounts have numbers that `delete` can find");
    return pins;
  };
  return within(act(), "--pin-namespaces {}", directory.string());
}

Result<void> NamespacePins::make_place() {
  constexpr mode_t kOwnerAlone = 0700;
  if (place_) return {};
  const auto made = linux::sys::mkdirat(parent_, name_.c_str(), kOwnerAlone);
  if (!made) {
    record_.is_new_directory = false;  // somebody else has made it meanwhile
    return made;
  }
  OCIRUN_TRY_ASSIGN(place_, linux::sys::openat(parent_, name_.c_str(),
                                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return {};
}

Result<void> NamespacePins::mount(int pid, const linux::NamespaceSet& namespaces) {
  const auto act = [&]() -> Result<void> {
    OCIRUN_TRY(make_place());
    OCIRUN_TRY(linux::sys::move_mount(tmpfs_, place_));
    // A mount namespace that is made later has copies of the pins, which would keep the namespaces.
    // Copies that receive changes from here vanish together with the pins.
    OCIRUN_TRY(set_propagation(tmpfs_, MS_SHARED));
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
    unmount_files(*top);
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
