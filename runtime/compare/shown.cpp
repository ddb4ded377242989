#include "runtime/compare/shown.hpp"

#include <algorithm>

#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"
#include "runtime/compare/mount_table.hpp"
#include "runtime/images/filesystem_types.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

class Shown {
 public:
  explicit Shown(const ShownExpectation& wanted)
      : wanted_(wanted),
        has_user_namespace_(wanted.config.namespaces.contains(NamespaceKind::kUser)) {}

  Result<void> compare(const linux::MountEntry& mount) const {
    if (!wanted_.host.allows(mount)) {
      if (showing_of(mount.type) == Showing::kCgroups)
        TRY(compare_cgroups(mount));
      else if (wanted_.host.has(mount))
        TRY(compare_hosts(mount));
      else
        TRY(compare_new(mount));
    }
    if (wanted_.host.hears_too_much(mount))
      return refuse(
          "mounts of the host reach {}: no mount of config.json has the option rslave or rshared "
          "there",
          point(mount));
    return {};
  }

 private:
  static std::string point(const linux::MountEntry& mount) {
    return linux::in_one_line(linux::unescape_path(mount.mount_point));
  }

  bool is_documented(const linux::MountEntry& mount) const {
    return std::ranges::any_of(wanted_.config.mounts, [&](const linux::Mount& one) {
      return !one.bind && one.type == mount.type;
    });
  }

  Result<void> compare_cgroups(const linux::MountEntry& mount) const {
    const bool may_mount_all =
        !has_user_namespace_ && !wanted_.config.namespaces.contains(NamespaceKind::kCgroup);
    if (may_mount_all || shows_cgroups_below(mount, wanted_.cgroup)) return {};
    return refuse("{} shows cgroups above the container's", point(mount));
  }

  Result<void> compare_hosts(const linux::MountEntry& mount) const {
    // A container without a user namespace of its own mounts these itself, and sees the host's.
    const bool is_kernels = showing_of(mount.type) == Showing::kKernels;
    if (is_kernels && (!has_user_namespace_ || is_documented(mount))) return {};
    return refuse(
        "{} shows {} of a file system of the host (type {}): config.json does not give that to the "
        "container",
        point(mount), linux::in_one_line(linux::unescape_path(mount.root)), mount.type);
  }

  Result<void> compare_new(const linux::MountEntry& mount) const {
    if (showing_of(mount.type) || is_documented(mount)) return {};
    return refuse("{} is a new file system of type {}: config.json mounts none of this type",
                  point(mount), mount.type);
  }

  const ShownExpectation& wanted_;
  bool has_user_namespace_;
};

}  // namespace

Result<void> compare_shown(const ShownExpectation& wanted, std::string_view mountinfo) {
  const Shown shown(wanted);
  while (const auto mount = linux::next_mount(mountinfo)) TRY(shown.compare(*mount));
  return {};
}

}  // namespace ocirun::runtime
