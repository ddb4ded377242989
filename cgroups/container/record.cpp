#include "cgroups/container/record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/hierarchies/text.hpp"
#include "cgroups/hierarchies/unit_names.hpp"

namespace ocirun::cgroups {
namespace {

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

Result<void> check_shape(const Record& record) {
  if (record.directories.empty())
    return refuse("the container's record is damaged: it names no cgroup");
  if (!is_normal_path(record.path))
    return refuse("the container's record is damaged: \"{}\" is no cgroup's path", record.path);
  const std::string name = record.path.substr(record.path.rfind('/') + 1);
  if (!record.unit.empty() && (record.unit != name || !is_scope_name(name)))
    return refuse("the container's record is damaged: \"{}\" is not the unit of the cgroup {}",
                  record.unit, record.path);
  for (const auto& [controllers, directory] : record.directories)
    if (!is_normal_path(directory) || !directory.ends_with(record.path))
      return refuse("the container's record is damaged: \"{}\" is no directory of the cgroup {}",
                    directory, record.path);
  for (const auto& [controller, directory] : record.handed_down) {
    const bool is_above = std::ranges::any_of(record.directories, [&](const auto& entry) {
      return entry.second.starts_with(directory + "/") &&
             directory.size() >= entry.second.size() - record.path.size();
    });
    if (!is_above || controller.find_first_of(" /\n") != std::string::npos)
      return refuse(
          "the container's record is damaged: \"{}\", which hands down \"{}\", is not above "
          "its cgroup",
          directory, controller);
  }
  for (const std::string& parent : record.created_parents) {
    const bool is_parent = std::ranges::any_of(record.directories, [&](const auto& entry) {
      return entry.second.starts_with(parent + "/") &&
             parent.size() > entry.second.size() - record.path.size();
    });
    if (!is_normal_path(parent) || !is_parent)
      return refuse("the container's record is damaged: \"{}\" is not above its cgroup", parent);
  }
  return {};
}

Record planned_record(const Layout& layout, const Placement& placement) {
  Record record{
      .path = placement.path, .directories = {}, .created_parents = {}, .handed_down = {}};
  for (const Hierarchy& hierarchy : layout.hierarchies)
    record.directories.emplace_back(joined(hierarchy.controllers),
                                    hierarchy.mount_point.string() + placement.path);
  return record;
}

namespace {

Node node_from(const Record& record, const std::pair<std::string, std::string>& entry) {
  const auto& [controllers, directory] = entry;
  const auto names = words(controllers, ',');
  std::string mount_point = directory;
  if (mount_point.ends_with(record.path))
    mount_point.resize(mount_point.size() - record.path.size());
  return {{names.begin(), names.end()}, std::move(mount_point), directory};
}

}  // namespace

std::vector<Node> nodes_of(const Record& record) {
  std::vector<Node> nodes;
  for (const auto& entry : record.directories) nodes.push_back(node_from(record, entry));
  return nodes;
}

std::vector<Node> nodes_with_freezer(const Record& record) {
  std::vector<Node> nodes;
  for (const auto& entry : record.directories)
    if (entry.first.empty() || contains(words(entry.first, ','), "freezer"))
      nodes.push_back(node_from(record, entry));
  return nodes;
}

std::vector<std::string> missing_parents(const Record& record) {
  std::vector<std::string> missing;
  for (const auto& [controllers, directory] : record.directories) {
    const std::size_t mount_point = directory.size() - record.path.size();
    for (std::string parent = parent_of(directory); parent.size() > mount_point;
         parent = parent_of(parent)) {
      if (!does_not_exist(parent)) break;
      missing.push_back(parent);
    }
  }
  return missing;
}

Result<Record> check_record(Record record, const Layout& layout, Uid owner) {
  OCIRUN_TRY(check_shape(record));
  const Record expected = planned_record(layout, {record.path});
  decltype(record.directories) there;
  for (auto& entry : record.directories) {
    if (!contains(expected.directories, entry))
      return refuse("the container's record: this host would not put the cgroup {} at {}",
                    record.path, entry.second);
    OCIRUN_TRY_ASSIGN(const std::optional<Found> found, find_directory(entry.second));
    if (found && found->owner != owner.value())
      return refuse("the container's record: {} belongs to user {}, not to {}", entry.second,
                    found->owner, owner.value());
    if (found) there.push_back(std::move(entry));
  }
  if (there.empty()) return Record{};
  record.directories = std::move(there);
  record.created_parents.clear();
  record.handed_down.clear();
  return record;
}

namespace {

/// Whether the cgroup does not exist, must not be read, or has a path longer than PATH_MAX.
bool is_passed_over(const Error& error) {
  return error.number() == ENOENT || error.number() == ENODEV || error.number() == EACCES ||
         error.number() == ENAMETOOLONG;
}

Result<Mark> mark_of(const Result<Directory>& directory) {
  auto mark = directory ? directory->mark() : std::unexpected(directory.error());
  return !mark && is_passed_over(mark.error()) ? Mark{} : mark;
}

}  // namespace

Result<void> write_mark(const Record& cgroup, const std::string& text) {
  return write_mark(cgroup.directories.front().second, text);
}

Result<Mark> read_mark(const Record& cgroup) {
  for (const auto& [controllers, path] : cgroup.directories) {
    OCIRUN_TRY_ASSIGN(Mark mark, mark_of(Directory::open(path)));
    if (!mark.text.empty()) return mark;
  }
  return Mark{};
}

Result<std::vector<Marked>> find_marks(const linux::Procfs& procfs, const Layout& layout,
                                       std::string_view beginning) {
  std::vector<Marked> found;
  for (const Hierarchy& hierarchy : layout.hierarchies) {
    const std::string& top = hierarchy.mount_point.string();
    const auto look = [&](const WalkEntry& entry) -> Result<void> {
      const Result<Directory> directory = Directory::open_entry(entry);
      OCIRUN_TRY_ASSIGN(Mark mark, mark_of(directory));
      if (!mark.text.starts_with(beginning)) return {};
      const Result<std::string> path = procfs.path_of(directory->fd());
      if (!path && is_passed_over(path.error())) return {};
      OCIRUN_TRY(path);
      if (path->starts_with(top + "/"))
        found.push_back({.path = path->substr(top.size()), .mark = std::move(mark)});
      return {};
    };
    OCIRUN_TRY(walk(top, look, Unreadable::kIsPassedOver));
  }
  return found;
}

}  // namespace ocirun::cgroups
