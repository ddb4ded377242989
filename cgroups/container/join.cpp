#include "cgroups/container/join.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "cgroups/hierarchies/node.hpp"
#include "cgroups/hierarchies/text.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::cgroups {
namespace {

/// Parses "path" or "controller[,controller]:path". Stores the path in `below` for all nodes, or
/// only for the nodes of the controllers.
Result<void> read_path(std::span<const Node> nodes, std::string_view text,
                       std::vector<std::string>& below) {
  const std::size_t colon = text.find(':');
  const bool all = colon == std::string_view::npos;
  OCIRUN_TRY_ASSIGN(std::string path, normal_path(all ? text : text.substr(colon + 1), "--cgroup"));
  if (path == "/") path.clear();
  if (all) {
    std::ranges::fill(below, path);
    return {};
  }
  const std::vector<std::string_view> controllers = words(text.substr(0, colon), ',');
  if (controllers.empty())
    return refuse("--cgroup \"{}\": names no controller before the colon", text);
  for (const std::string_view controller : controllers) {
    // A controller without a v1 hierarchy can only be in the unified hierarchy.
    const Node* v1 = find_v1(nodes, controller);
    const Node* unified = find_unified(nodes);
    const Node* node = v1 != nullptr ? v1 : unified;
    const bool known =
        v1 != nullptr ||
        (unified != nullptr && contains(unified_controllers(unified->mount_point()), controller));
    if (!known) return refuse("--cgroup \"{}\": this host has no {} controller", text, controller);
    below[static_cast<std::size_t>(node - nodes.data())] = path;
  }
  return {};
}

/// Opens `file` of the cgroup `below` ("" or "/a/b") the node. If the node's directory is open, the
/// file is below that directory, also if the path leads to another directory by now.
Result<UniqueFd> open_below(const Node& node, const std::string& below, const std::string& file,
                            int flags) {
  if (!node.is_open()) {
    auto opened = open_file_of(node.path() + below, file, flags);
    if (opened || opened.error().number() != EACCES) return opened;
  }
  // Directory::open_file() restores permissions that the container has removed.
  OCIRUN_TRY_ASSIGN(const Directory* directory, node.directory());
  const std::string relative = below.empty() ? "" : below.substr(1) + "/";
  return directory->open_file(relative + file, flags);
}

}  // namespace

Result<Cgroup::JoinHandles> open_join_handles(std::span<const Node> nodes,
                                              std::span<const std::string> paths) {
  std::vector<std::string> below(nodes.size());
  for (const std::string& path : paths) OCIRUN_TRY(read_path(nodes, path, below));

  Cgroup::JoinHandles handles;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].unified()) {
      OCIRUN_TRY_ASSIGN(handles.unified_directory,
                        open_below(nodes[i], below[i], ".", O_PATH | O_DIRECTORY));
    } else {
      OCIRUN_TRY_ASSIGN(UniqueFd tasks, open_below(nodes[i], below[i], "tasks", O_WRONLY));
      handles.tasks.push_back(std::move(tasks));
    }
  }
  return handles;
}

namespace {

// The kernel checks pids.max when a process is cloned, but not when a process is moved into the
// cgroup.
Result<void> check_pids_limits(std::string path) {
  for (; path.size() > 1; path = parent_of(path)) {
    OCIRUN_TRY_ASSIGN(const Directory directory, Directory::open(path));
    const auto limit = number(directory.read_or_empty("pids.max"));  // nullopt: no file, or "max"
    if (!limit) continue;
    const auto processes = number(directory.read_or_empty("pids.current"));
    if (processes && *processes > *limit)
      return fail(EAGAIN, "join {}, whose pids.max is {}", path, *limit);
  }
  return {};
}

}  // namespace

Result<void> join_late(const Cgroup::JoinHandles& handles, int pid) {
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                    linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  std::vector<std::string> joined;
  for (const UniqueFd& tasks : handles.tasks) {
    OCIRUN_TRY_ASSIGN(const std::string file, procfs.path_of(tasks));
    OCIRUN_TRY(within(linux::sys::write_once(tasks, fmt::to_string(pid)), file));
    joined.push_back(parent_of(file));
  }
  if (handles.unified_directory) {
    OCIRUN_TRY_ASSIGN(joined.emplace_back(), procfs.path_of(handles.unified_directory));
    OCIRUN_TRY_ASSIGN(const Directory directory, Directory::open(joined.back()));
    OCIRUN_TRY(directory.write("cgroup.procs", fmt::to_string(pid)));
  }
  for (const std::string& path : joined) OCIRUN_TRY(check_pids_limits(path));
  return {};
}

}  // namespace ocirun::cgroups
