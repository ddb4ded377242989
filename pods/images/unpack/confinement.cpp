#include "pods/images/unpack/confinement.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/confined/confine.hpp"
#include "linux/process/exec.hpp"
#include "pods/images/unpack_job.hpp"

namespace ocirun::pods {
namespace {

const std::vector<std::string> kFilling{
    "pwrite64",   "ftruncate", "ftruncate64", "fstatfs",         "fstatfs64",    "readlinkat",
    "mkdirat",    "mknodat",   "symlinkat",   "linkat",          "unlinkat",     "renameat2",
    "fchown",     "fchownat",  "fchmod",      "chmod",           "fchmodat",     "utimensat",
    "getdents64", "fsetxattr", "fgetxattr",   "flistxattr",      "fremovexattr", "setxattr",
    "getxattr",   "listxattr", "removexattr", "utimensat_time64"};

const std::vector<std::string> kOpening{"open", "openat", "openat2"};

/// The first argument of openat(2) is a descriptor, or AT_FDCWD, a negative number.
constexpr std::uint64_t kSign = 0x80000000;

linux::SeccompProfile profile_for(ArchiveWork work) {
  linux::SeccompProfile profile = linux::least_calls();
  if (work == ArchiveWork::kIndex) {
    answer(profile, ENOENT, kOpening);
    return profile;
  }
  allow(profile, kFilling);
  for (const int command : {F_GETFL, F_SETFD})  // fdopendir(3)
    allow(profile, {"fcntl", "fcntl64"}, {linux::equals(1, static_cast<std::uint64_t>(command))});
  answer(profile, ENOENT, {"open"});
  allow(profile, {"openat", "openat2"}, {linux::bits(0, kSign, 0)});
  answer(profile, ENOENT, {"openat", "openat2"}, {linux::bits(0, kSign, kSign)});
  return profile;
}

}  // namespace

Result<void> allow_calls(ArchiveWork work) { return linux::load_calls(profile_for(work)); }

namespace {

namespace sys = linux::sys;

/// Makes a mount of a directory, out of which ".." does not lead. Since Linux 5.12 the mount also
/// refuses to execute files, and has `more_attributes`.
Result<UniqueFd> as_mount(Fd directory, std::uint64_t more_attributes) {
  constexpr auto kFlags =
      static_cast<unsigned>(OPEN_TREE_CLONE) | static_cast<unsigned>(AT_EMPTY_PATH);
  OCIRUN_TRY_ASSIGN(UniqueFd mount, sys::open_tree(directory, "", kFlags));
  mount_attr attributes{};
  attributes.attr_set = static_cast<std::uint64_t>(MOUNT_ATTR_NOSUID) | MOUNT_ATTR_NODEV |
                        MOUNT_ATTR_NOEXEC | more_attributes;
  const auto set = sys::mount_setattr(mount, 0, attributes);
  if (!set && set.error().number() != ENOSYS) return std::unexpected(set.error());
  return mount;
}

/// Replaces the directories by mounts, which stay open until the process ends. Then leaves the
/// caller's mount namespace: afterwards a directory of that namespace could not become a mount.
Result<void> use_mounts(LayerPlaces& places) {
  OCIRUN_TRY_ASSIGN(UniqueFd into, as_mount(places.into, 0));
  UniqueFd below;
  if (places.below) {
    OCIRUN_TRY_ASSIGN(below, as_mount(*places.below, MOUNT_ATTR_RDONLY));
    ::close(places.below->value);
    places.below = Fd{below.release()};
  }
  ::close(places.into.value);
  places.into = Fd{into.release()};
  return linux::leave_mount_namespace();
}

linux::CapabilitySet capabilities_for(OpaqueMark mark) {
  linux::CapabilitySet wanted;
  for (const int capability :
       {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_MKNOD, CAP_SETFCAP})
    wanted.add(static_cast<unsigned>(capability));
  if (mark == OpaqueMark::kTrusted) wanted.add(CAP_SYS_ADMIN);  // for attributes "trusted.*"
  return wanted;
}

}  // namespace

Result<void> confine_to(LayerPlaces& places, OpaqueMark mark, Fd report, std::span<const Fd> keep) {
  std::vector<Fd> kept(keep.begin(), keep.end());
  kept.insert(kept.end(), {report, places.into});
  if (places.below) kept.push_back(*places.below);
  linux::close_descriptors_but(kept);
  const std::uint64_t size = linux::own_memory();
  // use_mounts() fails without the right to mount, and before Linux 5.2. The limits on descriptors
  // and capabilities must suffice then.
  if (auto used = use_mounts(places); !used && is_transient(used.error().number())) return used;
  if (auto changed = linux::change_root(places.into); !changed && changed.error().number() != EPERM)
    return changed;
  return linux::confine_process(capabilities_for(mark), size + kMostUnpackMemory, report);
}

}  // namespace ocirun::pods
