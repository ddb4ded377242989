#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cgroups/hierarchies/directory.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// A container's cgroup in one hierarchy.
class Node {
 public:
  /// `path` is `mount_point` followed by the placement. Empty `controllers` mean the unified
  /// hierarchy.
  Node(std::vector<std::string> controllers, std::string mount_point, std::string path)
      : controllers_(std::move(controllers)),
        mount_point_(std::move(mount_point)),
        path_(std::move(path)) {}

  bool unified() const { return controllers_.empty(); }
  bool has(std::string_view controller) const;
  const std::string& mount_point() const { return mount_point_; }
  const std::string& path() const { return path_; }
  /// Opens the directory at the first call. Errors: it does not exist.
  Result<const Directory*> directory() const;
  bool is_open() const { return directory_.has_value(); }
  /// Closes the directory, so that the next directory() opens the path again: a directory that is
  /// removed and made anew is another inode.
  void close() const { directory_.reset(); }

 private:
  std::vector<std::string> controllers_;
  std::string mount_point_, path_;
  mutable std::optional<Directory> directory_;
};

/// The container's node in the unified hierarchy; null on a host without that hierarchy.
const Node* find_unified(std::span<const Node> nodes);
/// The v1 node that has the controller; null where no v1 hierarchy has it (the unified one may).
const Node* find_v1(std::span<const Node> nodes, std::string_view controller);

/// The directory above `path`.
std::string parent_of(const std::string& path);

/// Makes the node's directory and its missing parents. The paths of the new parents are added to
/// `created_parents`, deepest first. Where another process removes an empty parent meanwhile,
/// make_node() tries again, a bounded number of times.
Result<Made> make_node(const Node& node, std::vector<std::string>& created_parents);

/// v1: a new cpuset has no CPU and no memory node, and no process can join it. Copies both from the
/// parent, first into parents that somebody left without them. `made` is the result of make_node().
Result<void> inherit_cpuset(const Node& node, Made made);

/// Unified hierarchy: whether processes may join the cgroup. `made` is the result of make_node().
/// Errors: the cgroup is threaded, or in a threaded domain.
Result<void> check_domain(const Node& node, Made made);

/// The controllers that are available at the mount point of the unified hierarchy.
std::vector<std::string> unified_controllers(const std::string& mount_point);
/// Pairs of a controller and the cgroup whose cgroup.subtree_control it was added to.
using HandedDown = std::vector<std::pair<std::string, std::string>>;
/// Enables `controllers` for `node` in cgroup.subtree_control of each of its ancestors.
/// `handed_down` receives the controllers that were not enabled before. Errors name the ancestor
/// that refuses (it holds processes: EBUSY).
Result<void> enable_controllers(const Node& node, const std::vector<std::string>& controllers,
                                HandedDown& handed_down);
/// Disables the controllers of `handed_down` again, except in ancestors that have another child,
/// which may be using them.
void take_back(const HandedDown& handed_down);
/// Notes the controllers of `handed_down` on their cgroups (Directory::write_note). The last
/// container disables them, because other containers may outlive `node`.
void note(std::span<const HandedDown::value_type> handed_down);
/// Like take_back(), for the controllers that are noted on the ancestors of `node`, whichever
/// container noted them.
void take_back_noted(const Node& node);

}  // namespace ocirun::cgroups
