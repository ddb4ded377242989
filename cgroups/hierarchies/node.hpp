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
  /// `path` is `mount_point` followed by the placement; no controllers: the unified hierarchy.
  Node(std::vector<std::string> controllers, std::string mount_point, std::string path)
      : controllers_(std::move(controllers)),
        mount_point_(std::move(mount_point)),
        path_(std::move(path)) {}

  bool unified() const { return controllers_.empty(); }
  bool has(std::string_view controller) const;
  const std::string& mount_point() const { return mount_point_; }
  const std::string& path() const { return path_; }
  /// Opened at first use. Errors: it does not exist.
  Result<const Directory*> directory() const;
  /// Forgets an open directory: one that is made anew is another.
  void close() const { directory_.reset(); }

 private:
  std::vector<std::string> controllers_;
  std::string mount_point_, path_;
  mutable std::optional<Directory> directory_;
};

/// A container's node in the unified hierarchy; null on a host without one.
const Node* find_unified(std::span<const Node> nodes);
/// The v1 node that has the controller; null where none has, and the unified one may.
const Node* find_v1(std::span<const Node> nodes, std::string_view controller);

/// The directory above `path`.
std::string parent_of(const std::string& path);

/// Makes the node's directory, and its missing parents, whose names `created_parents` gets, deepest
/// first. Others may remove an empty parent meanwhile: retried a bounded number of times.
Result<Made> make_node(const Node& node, std::vector<std::string>& created_parents);

/// v1: a new cpuset has no CPU and no memory node, and no process can join it: gives it, and
/// parents that somebody left so, what their parents have.
Result<void> inherit_cpuset(const Node& node);

/// Unified: whether a process may join at all. Errors: it is threaded, or in a threaded domain.
Result<void> check_domain(const Node& node);

/// The controllers that the unified hierarchy has at its mount point.
std::vector<std::string> unified_controllers(const std::string& mount_point);
/// Controllers and the cgroup that was made to hand them down.
using HandedDown = std::vector<std::pair<std::string, std::string>>;
/// Switches them on for `node` in each of its ancestors; `handed_down` gets what was not so before.
/// Errors name the ancestor that refuses (it holds processes: EBUSY).
Result<void> enable_controllers(const Node& node, const std::vector<std::string>& controllers,
                                HandedDown& handed_down);
/// Takes that back where nobody else can be using it: the ancestor has no other child.
void take_back(const HandedDown& handed_down);
/// Writes it on those cgroups for whoever is the last there, as others may outlive `node`.
void note(std::span<const HandedDown::value_type> handed_down);
/// The same as take_back() with what is written on the ancestors of `node`, whoever wrote it.
void take_back_noted(const Node& node);

}  // namespace ocirun::cgroups
