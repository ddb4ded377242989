#include "cgroups/container/mark.hpp"

#include <cerrno>

namespace ocirun::cgroups {
namespace {

/// The cgroup does not exist, may not be read, or is nested deeper than PATH_MAX.
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
  TRY_ASSIGN(const Directory directory, Directory::open(cgroup.directories.front().second));
  return directory.write_mark(text);
}

Result<Mark> read_mark(const Record& cgroup) {
  for (const auto& [controllers, path] : cgroup.directories) {
    TRY_ASSIGN(Mark mark, mark_of(Directory::open(path)));
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
      TRY_ASSIGN(Mark mark, mark_of(directory));
      if (!mark.text.starts_with(beginning)) return {};
      const Result<std::string> path = procfs.path_of(directory->fd());
      if (!path && is_passed_over(path.error())) return {};
      TRY(path);
      if (path->starts_with(top + "/"))
        found.push_back({.path = path->substr(top.size()), .mark = std::move(mark)});
      return {};
    };
    TRY(walk(top, look, Unreadable::kIsPassedOver));
  }
  return found;
}

}  // namespace ocirun::cgroups
