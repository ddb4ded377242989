#include "criu/request/shown_images.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "criu/dump/directory.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/detached_mount.hpp"

namespace ocirun::runtime {
namespace {

constexpr char kName[] = "images";
constexpr std::uint64_t kMebibyte = 1 << 20;
constexpr mode_t kSearchable = 0750;

struct RootIds {
  std::uint32_t uid = 0, gid = 0;  // the ids that root of the user namespace has on the host
};

Result<RootIds> root_ids(const linux::IdMap& id_map) {
  const auto uid = id_map.host_uid(Uid{});
  const auto gid = id_map.host_gid(Gid{});
  if (!uid || !gid)
    return refuse(
        "the user namespace has no user 0 or no group 0: add them to /linux/uidMappings and "
        "/linux/gidMappings");
  return RootIds{.uid = *uid, .gid = *gid};
}

// EINVAL: the file system has no id-mapped mounts. ENOSYS: the kernel has none. EPERM: the file
// system belongs to another user namespace.
bool lacks_id_mapped_mounts(const Error& error) {
  return error.number() == EINVAL || error.number() == ENOSYS || error.number() == EPERM;
}

class View {
 public:
  View(const ImagesToShow& wanted, RootIds root) : wanted_(wanted), root_(root) {}

  Result<UniqueFd> make() {
    OCIRUN_TRY_ASSIGN(const UniqueFd place,
                      linux::sys::open(wanted_.place.c_str(), O_RDONLY | O_DIRECTORY));
    UniqueFd to;
    OCIRUN_TRY(for_each_directory(wanted_.images, [&](Fd from) -> Result<void> {
      OCIRUN_TRY_ASSIGN(to, to ? make_directory(to, kParentLink) : make_directory(place, kName));
      return show_files(from, to);
    }));
    return linux::sys::openat(place, kName, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  }

 private:
  Result<UniqueFd> make_directory(Fd above, const char* name) const {
    OCIRUN_TRY(linux::sys::mkdirat(above, name, 0700));
    OCIRUN_TRY_ASSIGN(UniqueFd made,
                      linux::sys::openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    OCIRUN_TRY(linux::sys::fchown(made, ::geteuid(), root_.gid));
    OCIRUN_TRY(linux::sys::fchmod(made, kSearchable));
    return made;
  }

  // Skips sockets and directories, because CRIU reads only regular files.
  Result<void> show_files(Fd from, Fd to) {
    return linux::for_each_entry(from, [&](const char* name, unsigned char) -> Result<void> {
      OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstatat(from, name));
      if (!S_ISREG(status.st_mode)) return {};
      return within(show_file(from, to, name), linux::in_one_line(name));
    });
  }

  Result<void> show_file(Fd from, Fd to, const char* name) {
    OCIRUN_TRY_ASSIGN(const UniqueFd image, linux::sys::openat(from, name, O_RDONLY | O_NOFOLLOW));
    OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(image));
    const auto size = static_cast<std::uint64_t>(status.st_size);
    const bool is_large = std::string_view(name).starts_with("pages-") || size >= kMebibyte;
    if (is_large && can_map_) {
      auto bound = bind_file(image, to, name);
      if (bound || !lacks_id_mapped_mounts(bound.error())) return bound;
      can_map_ = false;
    }
    return copy_file(image, size, to, name);
  }

  Result<void> bind_file(Fd image, Fd to, const char* name) {
    OCIRUN_TRY_ASSIGN(const linux::DetachedMount clone,
                      linux::DetachedMount::clone_of(image, linux::Recursion::kTop));
    if (!user_namespace_) {
      const linux::IdMap map{
          .uids = {{.container_id = ::geteuid(), .host_id = root_.uid, .size = 1}},
          .gids = {{.container_id = ::getegid(), .host_id = root_.gid, .size = 1}}};
      OCIRUN_TRY_ASSIGN(user_namespace_, linux::make_user_namespace(wanted_.procfs.fd(), map));
    }
    mount_attr attributes{};
    attributes.attr_set =
        MOUNT_ATTR_IDMAP | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
    if (wanted_.access == ImageAccess::kRead) attributes.attr_set |= MOUNT_ATTR_RDONLY;
    attributes.userns_fd = static_cast<__u64>(user_namespace_.get());
    OCIRUN_TRY(linux::sys::mount_setattr(clone.fd(), 0, attributes));
    OCIRUN_TRY_ASSIGN(const UniqueFd point,
                      linux::sys::openat(to, name, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    return clone.attach(point);
  }

  Result<void> copy_file(Fd image, std::uint64_t size, Fd to, const char* name) const {
    OCIRUN_TRY(check_room(size, to));
    OCIRUN_TRY_ASSIGN(const UniqueFd copy,
                      linux::sys::openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    for (;;) {
      const ssize_t sent = ::sendfile(copy.get(), image.value, nullptr, kMebibyte);
      if (sent == 0) break;
      if (sent < 0 && errno != EINTR) return linux::sys::last_error("copy the image");
    }
    OCIRUN_TRY(linux::sys::fchown(copy, ::geteuid(), root_.gid));
    return linux::sys::fchmod(copy, wanted_.access == ImageAccess::kWrite ? 0660 : 0640);
  }

  // A tmpfs holds at most half of the memory by default. An image that does not fit is refused
  // before the tmpfs is full.
  static Result<void> check_room(std::uint64_t size, Fd to) {
    struct statvfs room{};
    if (::fstatvfs(to.value, &room) != 0)
      return linux::sys::last_error("read the free space of the tmpfs");
    const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
    if (size <= free) return {};
    return refuse(
        "the image has {} MiB, and there is room for {} MiB more: a copy of the images must fit "
        "into half of the memory: move the images to a file system that has id-mapped mounts, such "
        "as ext4, xfs or btrfs, on Linux 5.12 or newer",
        size / kMebibyte, free / kMebibyte);
  }

  const ImagesToShow& wanted_;
  RootIds root_;
  UniqueFd user_namespace_;
  bool can_map_ = true;  // false after the file system has refused an id-mapped mount
};

}  // namespace

Result<UniqueFd> show_images(const ImagesToShow& wanted) {
  OCIRUN_TRY_ASSIGN(const RootIds root, root_ids(wanted.id_map));
  return within(View(wanted, root).make(),
                "show the images to root of the container's user namespace");
}

}  // namespace ocirun::runtime
