#include "linux/mounts/detached_mount.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux {
namespace {

/// A superblock flag, and the fsconfig(2) options that set and clear it.
struct SuperblockFlag {
  std::uint64_t flag;
  const char* set;
  const char* clear;
};
constexpr SuperblockFlag kSuperblockFlags[] = {
    {MS_SYNCHRONOUS, "sync", "async"}, {MS_DIRSYNC, "dirsync", nullptr},
    {MS_MANDLOCK, "mand", "nomand"},   {MS_LAZYTIME, "lazytime", "nolazytime"},
    {MS_RDONLY, "ro", "rw"},
};

/// The filesystem's own error messages: lines such as "e tmpfs: Bad value for 'size'".
std::string messages_of(Fd context) {
  std::string text;
  char line[512];
  for (;;) {
    const ssize_t size = ::read(context.value, line, sizeof line);
    if (size <= 2) return text;  // ENODATA: no more messages
    std::string_view message(line + 2, static_cast<std::size_t>(size) - 2);
    while (message.ends_with('\n')) message.remove_suffix(1);
    if (!text.empty()) text += "; ";
    text += message;
  }
}

Error explained(Error error, Fd context, std::string what) {
  if (const std::string messages = messages_of(context); !messages.empty())
    what += fmt::format(" ({})", messages);
  return std::move(error.within(std::move(what)));
}

Result<void> set_option(Fd context, const std::string& option) {
  const std::size_t equals = option.find('=');
  const std::string label(label_of(option));
  auto done = equals == std::string::npos
                  ? sys::fsconfig(context, FSCONFIG_SET_FLAG, option.c_str(), nullptr)
                  : sys::fsconfig(context, FSCONFIG_SET_STRING, option.substr(0, equals).c_str(),
                                  label.empty() ? option.c_str() + equals + 1 : label.c_str());
  if (!done)
    return std::unexpected(explained(done.error(), context, fmt::format("option {:?}", option)));
  return {};
}

Result<void> configure(Fd context, const Filesystem& filesystem) {
  for (const SuperblockFlag& known : kSuperblockFlags) {
    if (filesystem.superblock_flags & known.flag) OCIRUN_TRY(set_option(context, known.set));
    if ((filesystem.superblock_clear & known.flag) && known.clear != nullptr)
      OCIRUN_TRY(set_option(context, known.clear));
  }
  if (!filesystem.selinux_context.empty())
    OCIRUN_TRY(set_option(context, "context=" + filesystem.selinux_context));
  for (const std::string& option : filesystem.data) OCIRUN_TRY(set_option(context, option));
  return {};
}

struct NamedAttribute {
  std::uint64_t attribute;
  std::uint64_t statfs_flag;
  const char* set;
  const char* clear;
};
constexpr NamedAttribute kLockable[] = {
    {MOUNT_ATTR_RDONLY, ST_RDONLY, "ro", "rw"},
    {MOUNT_ATTR_NOSUID, ST_NOSUID, "nosuid", "suid"},
    {MOUNT_ATTR_NODEV, ST_NODEV, "nodev", "dev"},
    {MOUNT_ATTR_NOEXEC, ST_NOEXEC, "noexec", "exec"},
};

}  // namespace

const MountAttributes kHostNode{.set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
                                .clear = 0};

std::string describe_filesystem(const Filesystem& filesystem) {
  if (!filesystem.source.starts_with('/')) return fmt::format("filesystem {:?}", filesystem.type);
  return fmt::format("filesystem {:?} of the source {}", filesystem.type, filesystem.source);
}

std::string_view label_of(std::string_view option) {
  for (const std::string_view name : {"context=", "fscontext=", "defcontext=", "rootcontext="}) {
    if (!option.starts_with(name)) continue;
    option.remove_prefix(name.size());
    if (option.size() >= 2 && option.starts_with('"') && option.ends_with('"'))
      return option.substr(1, option.size() - 2);
    return option;
  }
  return {};
}

Result<DetachedMount> DetachedMount::of_filesystem(const Filesystem& filesystem,
                                                   std::uint64_t attributes) {
  const std::string what = describe_filesystem(filesystem);
  Result<UniqueFd> context = sys::fsopen(filesystem.type.c_str());
  if (!context) {
    if (context.error().number() == ENODEV)
      return fail(
          ENODEV, "the kernel knows no filesystem type {:?}{}", filesystem.type,
          filesystem.type == "bind" ? "; a bind mount has the option \"bind\" or \"rbind\"" : "");
    return std::unexpected(std::move(context.error().within(what)));
  }
  if (!filesystem.source.empty()) {
    auto done = sys::fsconfig(*context, FSCONFIG_SET_STRING, "source", filesystem.source.c_str());
    if (!done) return std::unexpected(explained(done.error(), *context, what));
  }
  OCIRUN_TRY(within(configure(*context, filesystem), what));
  if (auto made = sys::fsconfig(*context, FSCONFIG_CMD_CREATE, nullptr, nullptr); !made)
    return std::unexpected(explained(made.error(), *context, what));
  OCIRUN_TRY_ASSIGN(UniqueFd mount, within(sys::fsmount(*context, attributes), what));
  return DetachedMount(std::move(mount));
}

Result<DetachedMount> DetachedMount::of_tmpfs(std::string_view mode, std::uint64_t attributes) {
  Filesystem tmpfs;
  tmpfs.type = tmpfs.source = "tmpfs";
  tmpfs.data = {fmt::format("mode={}", mode)};
  return of_filesystem(tmpfs, attributes);
}

Result<DetachedMount> DetachedMount::clone_of(Fd origin, Recursion recursion) {
  unsigned flags = OPEN_TREE_CLONE | unsigned{AT_EMPTY_PATH};
  if (recursion == Recursion::kTree) flags |= unsigned{AT_RECURSIVE};
  OCIRUN_TRY_ASSIGN(UniqueFd tree, sys::open_tree(origin, "", flags));
  return DetachedMount(std::move(tree));
}

Result<void> DetachedMount::attach(Fd target) const {
  auto done = sys::move_mount(fd_, target);
  if (done || done.error().number() != EINVAL) return done;
  // EINVAL has many meanings here. Returns ENOTDIR for a directory on a file and for a file on a
  // directory, as mount(2) does.
  OCIRUN_TRY_ASSIGN(const struct stat from, sys::fstat(fd_));
  OCIRUN_TRY_ASSIGN(const struct stat onto, sys::fstat(target));
  if (S_ISDIR(from.st_mode) == S_ISDIR(onto.st_mode)) return done;
  return fail(ENOTDIR, "a {} cannot be mounted on a {}",
              S_ISDIR(from.st_mode) ? "directory" : "file",
              S_ISDIR(onto.st_mode) ? "directory" : "file");
}

unsigned long propagation_flag(Propagation propagation) {
  switch (propagation) {
    case Propagation::kShared:
      return MS_SHARED;
    case Propagation::kSlave:
      return MS_SLAVE;
    case Propagation::kPrivate:
      return MS_PRIVATE;
    case Propagation::kUnbindable:
      return MS_UNBINDABLE;
    case Propagation::kUnchanged:
      break;
  }
  return 0;
}

MountAttributes combine(MountAttributes first, MountAttributes second) {
  return {.set = (first.set & ~second.clear) | second.set,
          .clear = (first.clear & ~second.set) | second.clear};
}

Result<void> set_mount_attributes(Fd mount, MountAttributes attributes, Recursion recursion,
                                  Propagation propagation) {
  mount_attr wanted{};
  wanted.attr_set = attributes.set;
  wanted.attr_clr = attributes.clear;
  wanted.propagation = propagation_flag(propagation);
  const unsigned flags = recursion == Recursion::kTree ? unsigned{AT_RECURSIVE} : 0;
  auto done = sys::mount_setattr(mount, flags, wanted);
  if (done || done.error().number() != EPERM) return done;
  if (std::string locked = locked_flags(mount, attributes); !locked.empty())
    done.error().within(std::move(locked));
  else if (recursion == Recursion::kTree && attributes.clear != 0)
    done.error().within(
        "a mount below the source has a flag that another user namespace has locked: leave out "
        "the recursive options, or bind without the mounts below (\"bind\" instead of "
        "\"rbind\")");
  return done;
}

std::string locked_flags(Fd mount, MountAttributes attributes) {
  const auto filesystem = sys::fstatfs(mount);
  if (!filesystem) return {};
  std::string text;
  const auto add = [&text](const char* option, const char* present) {
    text += fmt::format("{}option {:?}: the mount is {} and that is locked",
                        text.empty() ? "" : "; ", option, present);
  };
  for (const NamedAttribute& known : kLockable)
    if ((attributes.clear & known.attribute) && (filesystem->flags & known.statfs_flag))
      add(known.clear, known.set);
  if (attributes.clear & MOUNT_ATTR__ATIME) add("*atime", "of another atime mode");
  if (!text.empty()) text += ", because the mount comes from another user namespace";
  return text;
}

Result<void> reconfigure(Fd mount, const Filesystem& filesystem) {
  OCIRUN_TRY_ASSIGN(const UniqueFd context, sys::fspick(mount));
  OCIRUN_TRY(configure(context, filesystem));
  if (auto done = sys::fsconfig(context, FSCONFIG_CMD_RECONFIGURE, nullptr, nullptr); !done)
    return std::unexpected(explained(done.error(), context, "remount"));
  return {};
}

}  // namespace ocirun::linux
