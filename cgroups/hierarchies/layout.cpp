#include "cgroups/hierarchies/layout.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <unistd.h>

#include <algorithm>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/hierarchies/text.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::cgroups {
namespace {

constexpr char kUsualMountPoint[] = "/sys/fs/cgroup";
constexpr std::size_t kLongestPart = 255;  // of a path, in bytes

bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c == 0x7f || c < ' '; });
}

struct CgroupMount {
  std::string root, mount_point;
  bool unified = false;
  std::vector<std::string_view> options;  // of the superblock; on v1 these include the controllers
};

bool is_below(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

std::vector<CgroupMount> find_cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  while (const auto entry = linux::next_mount(mountinfo)) {
    const std::string point = linux::unescape_path(entry->mount_point);
    // A later mount at the same place or above it covers the earlier mount.
    std::erase_if(mounts, [&](const CgroupMount& m) { return is_below(m.mount_point, point); });
    if (entry->type != "cgroup" && entry->type != "cgroup2") continue;
    mounts.push_back({.root = linux::unescape_path(entry->root),
                      .mount_point = point,
                      .unified = entry->type == "cgroup2",
                      .options = split(entry->options, ',')});
  }
  return mounts;
}

/// Compares two mounts of the same hierarchy. A mount that contains the runtime's own cgroup is
/// better. Otherwise, the mount with the shorter root is better.
bool shows_more(const CgroupMount& mount, const CgroupMount& other, std::string_view own_path) {
  const bool ours = is_below(own_path, mount.root);
  const bool theirs = is_below(own_path, other.root);
  if (ours != theirs) return ours;
  return mount.root.size() < other.root.size();
}

}  // namespace

bool Layout::pure_v2() const {
  return !hierarchies.empty() &&
         std::ranges::all_of(hierarchies, [](const Hierarchy& h) { return h.unified; });
}

Result<Layout> parse_layout(std::string_view mountinfo, std::string_view own_cgroups) {
  const std::vector<CgroupMount> mounts = find_cgroup_mounts(mountinfo);
  Layout layout;
  // Each line describes one hierarchy: "4:memory:/path", "9:name=systemd:/path", "0::/path"
  // (cgroups(7)). The mount of a v1 hierarchy has the names of the middle field as options.
  for (const std::string_view line : words(own_cgroups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos)
      return refuse("the runtime's own cgroup: cannot read the line \"{}\"", line);
    const auto controllers = words(line.substr(first + 1, second - first - 1), ',');
    const std::string own_path(line.substr(second + 1));

    const CgroupMount* best = nullptr;
    for (const CgroupMount& mount : mounts) {
      const bool matches = mount.unified
                               ? controllers.empty()
                               : std::ranges::any_of(mount.options, [&](std::string_view option) {
                                   return contains(controllers, option);
                                 });
      if (matches && (best == nullptr || shows_more(mount, *best, own_path))) best = &mount;
    }
    if (best == nullptr) continue;  // the hierarchy exists but is not mounted
    layout.hierarchies.push_back({.mount_point = HostPath(best->mount_point),
                                  .root = best->root,
                                  .controllers = {controllers.begin(), controllers.end()},
                                  .unified = best->unified,
                                  .own_path = own_path});
  }
  if (layout.hierarchies.empty())
    return refuse(
        "no cgroup hierarchy is mounted: mount cgroup2 at /sys/fs/cgroup, or run with "
        "--cgroup-manager=disabled");
  return layout;
}

namespace {

// usual_layout() is for the initial cgroup namespace alone: in another one, a mount may show more
// than the namespace (root "/..").
bool is_in_initial_cgroup_namespace(const linux::Procfs& procfs) {
  const auto namespaces = procfs.open_file("self/ns", O_PATH | O_DIRECTORY);
  if (!namespaces) return false;
  const auto own = linux::sys::readlinkat(*namespaces, "cgroup");
  return own && *own == "cgroup:[4026531835]";  // PROC_CGROUP_INIT_INO of the kernel
}

// Whether `directory` is the root of the hierarchy. A bind of a part of it has another inode.
bool is_root_of_v2(Fd directory) {
  constexpr ino_t kRootInode = 1;
  const auto filesystem = linux::sys::fstatfs(directory);
  const auto status = linux::sys::fstat(directory);
  return filesystem && filesystem->magic == CGROUP2_SUPER_MAGIC && status &&
         status->st_ino == kRootInode;
}

}  // namespace

std::optional<Layout> usual_layout(const linux::Procfs& procfs, std::string_view own_cgroups) {
  constexpr std::string_view kUnified = "0::";
  // One line, "0::/path\n": there is no hierarchy of v1.
  if (!own_cgroups.starts_with(kUnified) || own_cgroups.find('\n') + 1 != own_cgroups.size())
    return std::nullopt;
  const auto root = linux::sys::open(kUsualMountPoint, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (!root || !is_root_of_v2(*root) || !is_in_initial_cgroup_namespace(procfs))
    return std::nullopt;
  own_cgroups.remove_prefix(kUnified.size());
  own_cgroups.remove_suffix(1);
  Layout layout;
  layout.hierarchies.push_back({.mount_point = HostPath(kUsualMountPoint),
                                .root = "/",
                                .controllers = {},
                                .unified = true,
                                .own_path = std::string(own_cgroups)});
  return layout;
}

Result<Layout> read_layout(const linux::Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(const std::string own_cgroups, procfs.read_value("self/cgroup"));
  if (auto usual = usual_layout(procfs, own_cgroups)) return *std::move(usual);
  OCIRUN_TRY_ASSIGN(const std::string mountinfo, linux::read_mountinfo(procfs));
  return parse_layout(mountinfo, own_cgroups);
}

Result<std::string> normal_path(std::string_view text, std::string_view what) {
  if (has_control_characters(text))
    return refuse("{}: a cgroup's path must not hold control characters", what);
  std::string path;
  for (const std::string_view part : words(text, '/')) {
    if (part == ".") continue;
    if (part == "..")
      return refuse("{} \"{}\": \"..\" is not allowed in a cgroup's path", what, text);
    if (part.size() > kLongestPart)
      return refuse("{} \"{}\": a part of a cgroup's path has at most {} bytes", what, text,
                    kLongestPart);
    path += '/';
    path += part;
  }
  return path.empty() ? "/" : path;
}

bool is_normal_path(std::string_view text) {
  if (!text.starts_with('/')) return false;
  if (has_control_characters(text)) return false;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view part = text.substr(0, text.find('/'));
    if (part.empty() || part == "." || part == ".." || part.size() > kLongestPart) return false;
    text.remove_prefix(part.size());
  }
  return true;
}

Result<Placement> place(const std::optional<std::string>& cgroups_path, const std::string& id) {
  const std::string asked = cgroups_path.value_or("");
  OCIRUN_TRY_ASSIGN(std::string path,
                    normal_path(asked.empty() ? id : asked, "/linux/cgroupsPath"));
  if (path == "/")
    return refuse(
        "/linux/cgroupsPath \"{}\": the root cgroup holds the host's own processes; name one below "
        "it",
        asked);
  if (asked.starts_with('/')) return Placement{std::move(path)};
  return Placement{fmt::format("{}{}", kOwnParent, path)};
}

namespace {

bool is_delegated(const std::string& directory) {
  const auto found = find_directory(directory);
  return found && *found && (*found)->owner == ::geteuid();
}

bool has_mark(const std::string& directory) {
  const auto opened = Directory::open(directory);
  return opened && opened->has_delegation_mark();
}

}  // namespace

std::string shown_path(const Hierarchy& hierarchy) {
  std::string path = hierarchy.own_path;
  if (hierarchy.root != "/" && path.starts_with(hierarchy.root))
    path.erase(0, hierarchy.root.size());
  return path == "/" ? "" : path;
}

bool owns_hierarchies(const Layout& layout) {
  return linux::is_root_outside() &&
         std::ranges::all_of(layout.hierarchies, [](const Hierarchy& hierarchy) {
           return is_delegated(hierarchy.mount_point.string());
         });
}

std::optional<std::string> delegated_cgroup(const Layout& layout) {
  if (!layout.pure_v2()) return std::nullopt;
  const Hierarchy& unified = layout.hierarchies.front();
  const bool owns_all = owns_hierarchies(layout);  // then only the mark tells a delegated cgroup
  const std::string own = shown_path(unified);
  // The loop tries the parent of the caller's cgroup first: the caller's cgroup contains processes,
  // so the kernel does not let the caller enable controllers for children there.
  for (const std::string& base : {own.substr(0, std::min(own.rfind('/'), own.size())), own})
    if (const std::string path = unified.mount_point.string() + base;
        !base.empty() && is_delegated(path) && (!owns_all || has_mark(path)))
      return base;
  return std::nullopt;
}

namespace {

/// Whether the service manager of a user has delegated the cgroup of a unit. The user owns the
/// cgroups of all units, and a delegated one has all controllers that the cgroup above has.
bool is_delegated_by_users_manager(const Directory& own) {
  if (linux::is_in_initial_user_namespace() || linux::is_root_outside()) return false;
  const std::string& path = own.path();
  const auto above = Directory::open(path.substr(0, path.rfind('/')));
  return (path.ends_with(".service") || path.ends_with(".scope")) && is_delegated(path) && above &&
         own.read_or_empty("cgroup.controllers") == above->read_or_empty("cgroup.controllers");
}

}  // namespace

Result<std::optional<std::string>> leave_delegated_cgroup(const Layout& layout) {
  if (!layout.pure_v2()) return std::nullopt;
  const Hierarchy& unified = layout.hierarchies.front();
  std::string own = shown_path(unified);
  if (own.empty()) return std::nullopt;
  const std::string path = unified.mount_point.string() + own;
  const auto directory = Directory::open(path);
  if (!directory ||
      !(directory->has_delegation_mark() || is_delegated_by_users_manager(*directory)) ||
      directory->read_or_empty("cgroup.procs") != fmt::format("{}", ::getpid()))
    return std::nullopt;
  const std::string below = path + "/supervisor";
  const auto move = [&]() -> Result<void> {
    OCIRUN_TRY(make_directory(below));
    OCIRUN_TRY_ASSIGN(const Directory supervisor, Directory::open(below));
    return supervisor.write("cgroup.procs", "0");
  };
  if (auto moved = move(); !moved) {
    ignore(remove_directory(below));
    return std::unexpected(
        moved.error().within(fmt::format("the cgroup {}, which systemd has delegated", own)));
  }
  return own;
}

}  // namespace ocirun::cgroups
