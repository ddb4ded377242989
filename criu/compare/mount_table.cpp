#include "criu/compare/mount_table.hpp"

#include <algorithm>

#include "criu/dump/mounts.hpp"
#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

using Kind = MountPlace::Kind;
using linux::NamespaceKind;

class Table {
 public:
  explicit Table(std::string_view mountinfo) {
    while (const auto entry = linux::next_mount(mountinfo)) entries_.push_back(*entry);
  }

  const std::vector<linux::MountEntry>& entries() const { return entries_; }

  /// Whether `entry`, a mount on the point of `place`, is the document's mount there.
  bool fits(const linux::MountEntry& entry, const MountPlace& place) const {
    switch (place.kind) {
      case Kind::kFilesystem:
        return entry.type == place.type && entry.root == "/";
      case Kind::kDevice:
        return entry.type == place.type;
      case Kind::kCgroup:
        return entry.type == "tmpfs" || shows_cgroups_below(entry, place.cgroup);
      case Kind::kReadOnly:
        return shows_its_parent(entry);
      default:
        break;
    }
    // Several mounts may lie on the point. A hidden mount must show the same files as the visible
    // mount.
    const linux::MountEntry* visible = find(place.visible);
    return visible != nullptr && visible->device == entry.device && visible->root == entry.root;
  }

 private:
  const linux::MountEntry* find(std::uint64_t id) const {
    const auto found = std::ranges::find(entries_, id, &linux::MountEntry::id);
    return found == entries_.end() ? nullptr : &*found;
  }

  // Whether the mount shows the same directory that the mount covers.
  bool shows_its_parent(const linux::MountEntry& entry) const {
    const linux::MountEntry* parent = find(entry.parent);
    if (parent == nullptr || parent->device != entry.device) return false;
    const std::string point = linux::unescape_path(entry.mount_point);
    const std::string above = linux::unescape_path(parent->mount_point);
    if (!linux::is_at_or_below(point, above)) return false;
    std::string shown = linux::unescape_path(parent->root);
    if (shown == "/") shown.clear();
    shown += above == "/" ? point : point.substr(above.size());
    return shown == linux::unescape_path(entry.root);
  }

  std::vector<linux::MountEntry> entries_;
};

class Shown {
 public:
  explicit Shown(const ShownExpectation& wanted)
      : wanted_(wanted),
        has_user_namespace_(wanted.config.namespaces.contains(NamespaceKind::kUser)) {}

  Result<void> compare(const linux::MountEntry& mount) const {
    if (!wanted_.host.allows(mount)) {
      if (showing_of(mount.type) == Showing::kCgroups)
        OCIRUN_TRY(compare_cgroups(mount));
      else if (wanted_.host.has(mount))
        OCIRUN_TRY(compare_hosts(mount));
      else
        OCIRUN_TRY(compare_new(mount));
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
    // A container without a user namespace can mount a kernel file system such as sysfs, and the
    // mount may show the same file system as a mount of the host.
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

bool shows_cgroups_below(const linux::MountEntry& mount, const std::string& cgroup) {
  return showing_of(mount.type) == Showing::kCgroups &&
         (cgroup.empty() || linux::is_at_or_below(linux::unescape_path(mount.root), cgroup));
}

Result<std::vector<std::string>> compare_mount_table(std::span<const MountPlace> places,
                                                     std::string_view mountinfo) {
  const Table table(mountinfo);
  std::vector<std::string> below;
  for (const linux::MountEntry& entry : table.entries()) {
    std::string point = linux::unescape_path(entry.mount_point);
    if (point == "/") continue;  // the caller has compared the root
    const bool is_in_tree = std::ranges::any_of(places, [&](const MountPlace& place) {
      return place.kind == Kind::kTree && place.point != point &&
             linux::is_at_or_below(point, place.point);
    });
    const auto at_point = [&](const MountPlace& place) { return place.point == point; };
    const bool fits = std::ranges::any_of(places, [&](const MountPlace& place) {
      return at_point(place) && table.fits(entry, place);
    });
    const bool is_below_cgroups = std::ranges::any_of(places, [&](const MountPlace& place) {
      return place.kind == Kind::kCgroup && linux::is_at_or_below(point, place.point) &&
             shows_cgroups_below(entry, place.cgroup);
    });
    if (fits || is_below_cgroups) continue;
    if (is_in_tree) {
      below.push_back(std::move(point));
      continue;
    }
    if (std::ranges::any_of(places, at_point))
      return refuse(
          "{} of a file system of type {} is mounted on {}: config.json mounts something else "
          "there, and a container without CAP_SYS_ADMIN cannot change that",
          entry.root, entry.type, point);
    return refuse(
        "a file system of type {} is mounted on {}: config.json does not mount there, and a "
        "container without CAP_SYS_ADMIN cannot",
        entry.type, point);
  }
  return below;
}

Result<void> compare_shown(const ShownExpectation& wanted, std::string_view mountinfo) {
  const Shown shown(wanted);
  while (const auto mount = linux::next_mount(mountinfo)) OCIRUN_TRY(shown.compare(*mount));
  return {};
}

}  // namespace ocirun::runtime
