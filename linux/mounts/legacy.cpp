#include "linux/mounts/legacy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <string>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux::legacy {
namespace {

constexpr int kBusyTries = 3;  // EBUSY: an unmount elsewhere is still in progress

/// A mount attribute, and its flags for mount(2) and statfs(2).
struct FlagPair {
  std::uint64_t attribute;
  std::uint64_t mount_flag;
  std::uint64_t statfs_flag;
};
constexpr FlagPair kFlags[] = {
    {MOUNT_ATTR_RDONLY, MS_RDONLY, ST_RDONLY},
    {MOUNT_ATTR_NOSUID, MS_NOSUID, ST_NOSUID},
    {MOUNT_ATTR_NODEV, MS_NODEV, ST_NODEV},
    {MOUNT_ATTR_NOEXEC, MS_NOEXEC, ST_NOEXEC},
    {MOUNT_ATTR_NODIRATIME, MS_NODIRATIME, ST_NODIRATIME},
    {MOUNT_ATTR_NOSYMFOLLOW, MS_NOSYMFOLLOW, 0x2000},  // ST_NOSYMFOLLOW
};

/// The flag of mount(2) for an atime mode. strictatime needs a flag too: without a flag, mount(2)
/// uses relatime.
std::uint64_t atime_flag(std::uint64_t attributes) {
  switch (attributes & MOUNT_ATTR__ATIME) {
    case MOUNT_ATTR_NOATIME:
      return MS_NOATIME;
    case MOUNT_ATTR_STRICTATIME:
      return MS_STRICTATIME;
    default:
      return MS_RELATIME;
  }
}

std::uint64_t atime_flag_of_statfs(std::uint64_t flags) {
  if (flags & ST_NOATIME) return MS_NOATIME;
  return flags & ST_RELATIME ? MS_RELATIME : MS_STRICTATIME;
}

/// The options as one text. SELinux labels are quoted, because they may contain commas.
std::string joined(const Filesystem& filesystem) {
  std::vector<std::string> options = filesystem.data;
  if (!filesystem.selinux_context.empty())
    options.push_back("context=" + filesystem.selinux_context);
  for (std::string& option : options)
    if (const std::string label(label_of(option)); !label.empty())
      option = fmt::format("{}=\"{}\"", option.substr(0, option.find('=')), label);
  return fmt::to_string(fmt::join(options, ","));
}

/// The options for an error, without their values: a value may be a password.
std::string names_of_options(const Filesystem& filesystem) {
  std::vector<std::string> names;
  for (const std::string& option : filesystem.data)
    names.push_back(option.substr(0, option.find('=')));
  return fmt::to_string(fmt::join(names, ", "));
}

/// Makes the trusted procfs the working directory for the call, so that self/fd/N is a relative
/// name that no mount can cover. Then restores the working directory.
Result<void> mount_from_procfs(const Procfs& procfs, const std::string& source, Fd target,
                               const char* type, std::uint64_t flags, const char* data) {
  OCIRUN_TRY_ASSIGN(const UniqueFd before, sys::open(".", O_PATH | O_DIRECTORY));
  OCIRUN_TRY(sys::fchdir(procfs.fd()));
  Result<void> done;
  for (int tries = 0; tries < kBusyTries; ++tries) {
    done = sys::mount(source.c_str(), fd_link(target).c_str(), type,
                      static_cast<unsigned long>(flags), data);
    if (done || done.error().number() != EBUSY) break;
  }
  OCIRUN_TRY(sys::fchdir(before));
  return done;
}

/// Opens the mount that was just made. Its path must be the same as before, and its mount id must
/// have changed. Otherwise a rename has redirected either this lookup or the mount.
Result<UniqueFd> open_made(const MountPoint& point, std::uint64_t id_before) {
  OCIRUN_TRY_ASSIGN(UniqueFd made, point.root.open(point.path, O_PATH));
  OCIRUN_TRY_ASSIGN(const std::uint64_t id_after, sys::mount_id(made));
  OCIRUN_TRY_ASSIGN(const std::string wanted, point.procfs.path_of(point.target));
  OCIRUN_TRY_ASSIGN(const std::string got, point.procfs.path_of(made));
  // Before Linux 5.8 there are no mount ids to compare.
  if (wanted != got || (id_before != 0 && id_before == id_after))
    return refuse("{} changed while something was mounted there", point.path.string());
  return made;
}

}  // namespace

std::uint64_t mount_flags(std::uint64_t attributes) {
  std::uint64_t flags = atime_flag(attributes);
  for (const FlagPair& pair : kFlags)
    if (attributes & pair.attribute) flags |= pair.mount_flag;
  return flags;
}

Result<UniqueFd> place_filesystem(const MountPoint& point, const Filesystem& filesystem,
                                  std::uint64_t attributes) {
  OCIRUN_TRY_ASSIGN(const std::uint64_t before, sys::mount_id(point.target));
  const std::string data = joined(filesystem);
  const std::string source = filesystem.source.empty() ? filesystem.type : filesystem.source;
  OCIRUN_TRY(
      within(mount_from_procfs(point.procfs, source, point.target, filesystem.type.c_str(),
                               filesystem.superblock_flags | mount_flags(attributes), data.c_str()),
             filesystem.data.empty()
                 ? describe_filesystem(filesystem)
                 : fmt::format("{} with the options {}", describe_filesystem(filesystem),
                               names_of_options(filesystem))));
  return open_made(point, before);
}

Result<UniqueFd> place_bind(const MountPoint& point, Fd source, Recursion recursion) {
  OCIRUN_TRY_ASSIGN(const std::uint64_t before, sys::mount_id(point.target));
  const unsigned long flags = MS_BIND | (recursion == Recursion::kTree ? MS_REC : 0);
  OCIRUN_TRY(
      mount_from_procfs(point.procfs, fd_link(source), point.target, nullptr, flags, nullptr));
  return open_made(point, before);
}

Result<void> change_attributes(const Procfs& procfs, Fd mount, MountAttributes attributes) {
  OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo now, sys::fstatfs(mount));
  std::uint64_t flags = MS_BIND | MS_REMOUNT;
  for (const FlagPair& pair : kFlags) {
    const bool kept = (now.flags & pair.statfs_flag) && !(attributes.clear & pair.attribute);
    if (kept || (attributes.set & pair.attribute)) flags |= pair.mount_flag;
  }
  flags |= attributes.clear & MOUNT_ATTR__ATIME ? atime_flag(attributes.set)
                                                : atime_flag_of_statfs(now.flags);
  auto done = mount_from_procfs(procfs, "none", mount, nullptr, flags, nullptr);
  if (!done && done.error().number() == EPERM)
    if (std::string locked = locked_flags(mount, attributes); !locked.empty())
      done.error().within(std::move(locked));
  return done;
}

Result<void> change_propagation(const Procfs& procfs, Fd mount, Propagation propagation,
                                Recursion recursion) {
  const unsigned long flags =
      propagation_flag(propagation) | (recursion == Recursion::kTree ? MS_REC : 0);
  return mount_from_procfs(procfs, "none", mount, nullptr, flags, nullptr);
}

Result<void> unmount(const Procfs& procfs, Fd mount) {
  OCIRUN_TRY_ASSIGN(const UniqueFd before, sys::open(".", O_PATH | O_DIRECTORY));
  OCIRUN_TRY(sys::fchdir(procfs.fd()));
  auto done = sys::unmount(fd_link(mount).c_str(), sys::kDetach);
  OCIRUN_TRY(sys::fchdir(before));
  return done;
}

Result<void> reconfigure(const Procfs& procfs, Fd mount, const Filesystem& filesystem) {
  OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo now, sys::fstatfs(mount));
  std::uint64_t flags = MS_REMOUNT | atime_flag_of_statfs(now.flags) | filesystem.superblock_flags;
  for (const FlagPair& pair : kFlags)
    if (now.flags & pair.statfs_flag) flags |= pair.mount_flag;
  if (filesystem.superblock_clear & MS_RDONLY) flags &= ~std::uint64_t{MS_RDONLY};
  return mount_from_procfs(procfs, "none", mount, nullptr, flags, joined(filesystem).c_str());
}

}  // namespace ocirun::linux::legacy
