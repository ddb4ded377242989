#include "pods/prepare/devices/ready.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>

#include "linux/base/syscalls.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr mode_t kPermissions = 0777;

std::string_view name_of_type(char type) {
  return type == 'b' ? "block device" : type == 'p' ? "fifo" : "character device";
}

/// The type of a device node; 0 for another file.
char type_of_file(mode_t mode) {
  if (S_ISBLK(mode)) return 'b';
  if (S_ISCHR(mode)) return 'c';
  return S_ISFIFO(mode) ? 'p' : '\0';
}

/// Nothing: there is no such file.
Result<std::optional<struct stat>> find_host_node(const std::string& path) {
  const auto node = sys::open(path.c_str(), O_PATH);
  if (!node && (node.error().number() == ENOENT || node.error().number() == ENOTDIR))
    return std::nullopt;
  if (!node) return std::unexpected(node.error());
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(*node));
  return info;
}

Result<ReadyNode> complete(const DeviceNode& node, NodeOrigin origin) {
  ReadyNode ready{.path = node.path,
                  .host_path = node.host_path.empty() ? node.path : node.host_path,
                  .type = node.type,
                  .major = node.major,
                  .minor = node.minor,
                  .mode = node.mode,
                  .access = node.access,
                  .uid = node.uid,
                  .gid = node.gid};
  const bool is_complete = node.type == 'p' || (node.type != 0 && node.major != 0);
  const bool is_bound = origin == NodeOrigin::kBound && node.type != 'p';
  OCIRUN_TRY_ASSIGN(const auto host, find_host_node(ready.host_path));
  const char type = host ? type_of_file(host->st_mode) : '\0';
  if (is_complete && !is_bound) {
    if (type == node.type && !ready.mode) ready.mode = host->st_mode & kPermissions;
    return ready;
  }
  if (!host)
    return fail(ENOENT, "the host has no device node {}{}", ready.host_path,
                is_complete ? ", and only root can make one" : "");
  if (type == '\0') return refuse("{} of the host is no device node", ready.host_path);
  if (node.type != 0 && node.type != type)
    return refuse("{} of the host is a {}, and the specification has a {}", ready.host_path,
                  name_of_type(type), name_of_type(node.type));
  ready.type = type;
  if (!ready.mode) ready.mode = host->st_mode & kPermissions;
  if (type == 'p') return ready;
  const auto major = static_cast<std::uint32_t>(::major(host->st_rdev));
  const auto minor = static_cast<std::uint32_t>(::minor(host->st_rdev));
  const bool is_numbered = node.major != 0;
  if (is_numbered && (node.major != major || node.minor != minor))
    return refuse("{} of the host is the device {}:{}, and the specification has {}:{}",
                  ready.host_path, major, minor, node.major, node.minor);
  ready.major = major;
  ready.minor = minor;
  return ready;
}

/// Warns of what a bound node of the host cannot have.
void warn_of_bound(const DeviceNode& node, const ReadyNode& ready,
                   std::vector<std::string>& warnings) {
  const auto host = find_host_node(ready.host_path);
  if (!host || !*host || ready.type == 'p') return;
  std::vector<std::string_view> kept;
  if (node.mode && (*node.mode & kPermissions) != ((*host)->st_mode & kPermissions))
    kept.emplace_back("fileMode");
  if (node.uid) kept.emplace_back("uid");
  if (node.gid) kept.emplace_back("gid");
  if (!node.access.contains('r') || !node.access.contains('w')) kept.emplace_back("permissions");
  if (kept.empty()) return;
  warnings.push_back(
      fmt::format("{}: {} of the device node {} cannot be set, because only root can make device "
                  "nodes: the container sees the host's node as it is",
                  node.where, fmt::join(kept, ", "), ready.path));
}

/// Puts edits together, and finds those that exclude each other.
class Union {
 public:
  Union(NodeOrigin origin, std::vector<std::string>& warnings)
      : origin_(origin), warnings_(warnings) {}

  Result<void> add(const DeviceEdits& edits) {
    all_.env.insert(all_.env.end(), edits.env.begin(), edits.env.end());
    for (const DeviceNode& node : edits.nodes) OCIRUN_TRY(add(node));
    for (const DeviceMount& mount : edits.mounts) OCIRUN_TRY(add(mount));
    for (const DeviceHook& hook : edits.hooks)
      if (std::ranges::find(all_.hooks, hook) == all_.hooks.end()) all_.hooks.push_back(hook);
    for (const Gid gid : edits.gids)
      if (std::ranges::find(all_.gids, gid) == all_.gids.end()) all_.gids.push_back(gid);
    if (!edits.rdt) return {};
    if (all_.rdt && *all_.rdt != *edits.rdt)
      return refuse("another device of the container has another intelRdt");
    all_.rdt = edits.rdt;
    return {};
  }

  ReadyEdits take() { return std::move(all_); }

 private:
  Result<void> add(const DeviceNode& node) {
    OCIRUN_TRY_ASSIGN(ReadyNode ready, ready_node(node, origin_));
    const auto same = std::ranges::find(all_.nodes, ready.path, &ReadyNode::path);
    if (same != all_.nodes.end()) {
      if (*same == ready) return {};
      return refuse("{}: another device of the container has another device node {}", node.where,
                    node.path);
    }
    if (origin_ == NodeOrigin::kBound) warn_of_bound(node, ready, warnings_);
    all_.nodes.push_back(std::move(ready));
    return {};
  }
  Result<void> add(const DeviceMount& mount) {
    const auto same = std::ranges::find(all_.mounts, mount.destination, &DeviceMount::destination);
    if (same == all_.mounts.end())
      all_.mounts.push_back(mount);
    else if (*same != mount)
      return refuse("another device of the container has another mount at {}", mount.destination);
    return {};
  }

  NodeOrigin origin_;
  std::vector<std::string>& warnings_;
  ReadyEdits all_;
};

}  // namespace

Result<ReadyNode> ready_node(const DeviceNode& node, NodeOrigin origin) {
  return within(complete(node, origin), node.where);
}

Result<std::string> identity_of(const FoundDevice& device) {
  if (device.device->edits.nodes.empty()) return device.full_name();
  std::set<std::string> nodes;
  for (const DeviceNode& node : device.device->edits.nodes) {
    OCIRUN_TRY_ASSIGN(const ReadyNode ready, ready_node(node, NodeOrigin::kMade));
    nodes.insert(ready.type == 'p' ? ready.host_path
                                   : fmt::format("{}{}:{}", ready.type, ready.major, ready.minor));
  }
  return fmt::format("{}", fmt::join(nodes, ","));
}

Result<ReadyEdits> ready_edits(const std::vector<FoundDevice>& devices, NodeOrigin origin,
                               std::vector<std::string>& warnings) {
  Union all(origin, warnings);
  std::set<const CdiSpec*> files;
  for (const FoundDevice& device : devices) {
    const auto added = [&]() -> Result<void> {
      if (files.insert(device.spec).second) OCIRUN_TRY(all.add(device.spec->edits));
      return all.add(device.device->edits);
    };
    OCIRUN_TRY(within(added(), "device {} of {}", device.full_name(), device.spec->file));
  }
  return all.take();
}

}  // namespace ocirun::pods
