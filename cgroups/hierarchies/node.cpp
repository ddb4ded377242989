#include "cgroups/hierarchies/node.hpp"

#include <ranges>

#include <algorithm>
#include <array>
#include <cerrno>

#include "cgroups/hierarchies/text.hpp"

namespace ocirun::cgroups {
namespace {

constexpr int kMakeTries = 100;  // a try fails if another process removes the empty parent

/// Makes `path` and the missing parents of `path` below `mount_point`.
Result<void> make_parents(const std::string& mount_point, const std::string& path,
                          std::vector<std::string>& created) {
  if (path.size() <= mount_point.size()) return {};
  Result<Made> made = make_directory(path);
  if (!made && made.error().number() == ENOENT) {
    OCIRUN_TRY(make_parents(mount_point, parent_of(path), created));
    made = make_directory(path);
  }
  if (!made) return std::unexpected(std::move(made).error());
  if (*made == Made::kNew && !contains(created, path)) created.insert(created.begin(), path);
  return {};
}

constexpr std::array kCpusetFiles{"cpuset.cpus", "cpuset.mems"};
using CpusetValues = std::array<std::string, kCpusetFiles.size()>;

/// Fills the empty files of a cpuset directory, and of its parents, from the nearest parent with a
/// value. Returns the values of the directory: "" where no parent has one.
Result<CpusetValues> fill_from_parents(const std::string& mount_point, const Directory& directory,
                                       Made made) {
  const bool is_root = directory.path().size() <= mount_point.size();
  CpusetValues values;  // of a new directory: all empty, so they are not read
  for (std::size_t i = 0; i < values.size() && made == Made::kExisted; ++i) {
    OCIRUN_TRY_ASSIGN(values[i], is_root ? directory.read_or_empty(kCpusetFiles[i])
                                         : directory.read(kCpusetFiles[i]));
    values[i].resize(values[i].find_last_not_of(" \n") + 1);
  }
  const auto is_empty = [](const std::string& value) { return value.empty(); };
  if (is_root || std::ranges::none_of(values, is_empty)) return values;
  OCIRUN_TRY_ASSIGN(const Directory parent, Directory::open(parent_of(directory.path())));
  OCIRUN_TRY_ASSIGN(const CpusetValues above,
                    fill_from_parents(mount_point, parent, Made::kExisted));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].empty() || above[i].empty()) continue;
    OCIRUN_TRY(directory.write(kCpusetFiles[i], above[i]));
    values[i] = above[i];
  }
  return values;
}

/// Enables a controller for the children of `ancestor`, unless `ancestor` holds processes. The
/// kernel refuses most controllers then (no-internal-process rule). For cpu and pids, the kernel
/// would make `ancestor` a threaded domain, below which no container can run. The root of the
/// hierarchy has no cgroup.type and may hold processes.
Result<void> hand_down(const Directory& ancestor, const std::string& controller) {
  if (!ancestor.read_or_empty("cgroup.procs").empty() &&
      !ancestor.read_or_empty("cgroup.type").empty())
    return fail(EBUSY, "enable the {} controller", controller);
  return ancestor.write("cgroup.subtree_control", "+" + controller);
}

}  // namespace

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool Node::has(std::string_view controller) const { return contains(controllers_, controller); }

Result<const Directory*> Node::directory() const {
  if (!directory_) {
    OCIRUN_TRY_ASSIGN(directory_, Directory::open(path_));
  }
  return &*directory_;
}

const Node* find_unified(std::span<const Node> nodes) {
  const auto found = std::ranges::find_if(nodes, &Node::unified);
  return found == nodes.end() ? nullptr : &*found;
}

const Node* find_v1(std::span<const Node> nodes, std::string_view controller) {
  const auto found =
      std::ranges::find_if(nodes, [&](const Node& node) { return node.has(controller); });
  return found == nodes.end() ? nullptr : &*found;
}

Result<Made> make_node(const Node& node, std::vector<std::string>& created_parents) {
  node.close();
  // If the parents were missing in another hierarchy, the parents are probably missing here too.
  bool parents_first = !created_parents.empty();
  for (int tries = 0;; ++tries, parents_first = true) {
    if (parents_first) {
      Result<void> parents =
          make_parents(node.mount_point(), parent_of(node.path()), created_parents);
      if (!parents && parents.error().number() != ENOENT)
        return std::unexpected(std::move(parents).error());
    }
    Result<Made> made = make_directory(node.path());
    if (made || made.error().number() != ENOENT || tries == kMakeTries) return made;
  }
}

Result<void> inherit_cpuset(const Node& node, Made made) {
  OCIRUN_TRY_ASSIGN(const Directory* directory, node.directory());
  OCIRUN_TRY(fill_from_parents(node.mount_point(), *directory, made));
  return {};
}

Result<void> check_domain(const Node& node, Made made) {
  // Below a domain, or below the root of the hierarchy (which has no type), a new cgroup is a
  // domain.
  if (made == Made::kNew) {
    OCIRUN_TRY_ASSIGN(const Directory parent, Directory::open(parent_of(node.path())));
    const std::string type = parent.read_or_empty("cgroup.type");
    if (type.empty() || type == "domain") return {};
  }
  OCIRUN_TRY_ASSIGN(const Directory* directory, node.directory());
  const std::string type = directory->read_or_empty("cgroup.type");
  if (type == "threaded")
    return refuse("cgroup {} is threaded: it takes threads of its domain only, no container",
                  node.path());
  if (type == "domain invalid")
    return refuse(
        "cgroup {} is in a threaded domain, where the kernel lets no process join it: choose a "
        "cgroupsPath that is not below the cgroup whose cgroup.type is \"domain threaded\"",
        node.path());
  return {};
}

std::vector<std::string> unified_controllers(const std::string& mount_point) {
  const Result<Directory> top = Directory::open(mount_point);
  if (!top) return {};
  const std::string text = top->read_or_empty("cgroup.controllers");
  const auto names = words(text);
  return {names.begin(), names.end()};
}

Result<void> enable_controllers(const Node& node, const std::vector<std::string>& controllers,
                                HandedDown& handed_down) {
  const auto missing_in = [&](const std::string& text) {
    std::vector<std::string> missing;
    for (const std::string& controller : controllers)
      if (!contains(words(text), controller)) missing.push_back(controller);
    return missing;
  };
  // cgroup.controllers of a cgroup says what cgroup.subtree_control of its parent says.
  OCIRUN_TRY_ASSIGN(const Directory parent, Directory::open(parent_of(node.path())));
  if (missing_in(parent.read_or_empty("cgroup.subtree_control")).empty()) return {};

  std::optional<Error> first_error;  // a controller that cannot be enabled does not stop the others
  std::size_t end = node.mount_point().size();
  while (true) {
    OCIRUN_TRY_ASSIGN(const Directory ancestor, Directory::open(node.path().substr(0, end)));
    for (const std::string& controller :
         missing_in(ancestor.read_or_empty("cgroup.subtree_control"))) {
      Result<void> enabled = hand_down(ancestor, controller);
      if (enabled) handed_down.emplace_back(controller, ancestor.path());
      if (enabled || first_error) continue;
      if (enabled.error().number() == EBUSY)
        enabled.error().within(fmt::format(
            "cgroup {} holds processes itself, so it cannot hand controllers down: move "
            "the processes to a cgroup below it, or name another cgroupsPath",
            ancestor.path()));
      first_error = std::move(enabled).error();
    }
    end = node.path().find('/', end + 1);
    if (end == std::string::npos) break;
  }
  if (first_error) return std::unexpected(*std::move(first_error));
  return {};
}

void take_back(const HandedDown& handed_down) {
  for (const auto& [controller, directory] : std::views::reverse(handed_down)) {
    const Result<Directory> ancestor = Directory::open(directory);
    if (ancestor && !ancestor->has_children())
      ignore(ancestor->write("cgroup.subtree_control", "-" + controller));
  }
}

void note(std::span<const HandedDown::value_type> handed_down) {
  for (const auto& [controller, directory] : handed_down) {
    const Result<Directory> ancestor = Directory::open(directory);
    if (!ancestor) continue;
    const std::string noted = ancestor->note();
    if (!contains(words(noted), controller))
      ignore(ancestor->write_note(fmt::format("{} {}", noted, controller)));
  }
}

void take_back_noted(const Node& node) {
  for (std::string path = node.path(); path.size() > node.mount_point().size();) {
    path = parent_of(path);
    const Result<Directory> ancestor = Directory::open(path);
    if (!ancestor) continue;               // ocirun has removed the parents of the container
    if (ancestor->has_children()) return;  // then every ancestor above has children too
    const std::string noted = ancestor->note();
    for (const std::string_view controller : words(noted))
      ignore(ancestor->write("cgroup.subtree_control", fmt::format("-{}", controller)));
    if (!noted.empty()) ignore(ancestor->write_note(""));
  }
}

}  // namespace ocirun::cgroups
