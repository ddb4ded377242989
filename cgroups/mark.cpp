#include "cgroups/mark.hpp"

#include "cgroups/directory.hpp"

namespace ocirun::cgroups {

Result<void> write_mark(const Record& cgroup, const std::string& text) {
  TRY_ASSIGN(const Directory directory, Directory::open(cgroup.directories.front().second));
  return directory.write_mark(text);
}

std::string read_mark(const Record& cgroup) {
  if (cgroup.directories.empty()) return "";
  const Result<Directory> directory = Directory::open(cgroup.directories.front().second);
  return directory ? directory->mark() : "";
}

Result<std::vector<Marked>> find_marks(const linux::Procfs& procfs, const Layout& layout,
                                       std::string_view beginning) {
  std::vector<Marked> found;
  if (layout.hierarchies.empty()) return found;
  TRY(walk(layout.hierarchies.front().mount_point.string(),
           [&](const WalkEntry& entry) -> Result<void> {
             const Result<Directory> directory = Directory::open_in(entry);
             if (!directory) return {};  // gone meanwhile
             std::string text = directory->mark();
             if (!text.starts_with(beginning)) return {};
             TRY_ASSIGN(std::string path, procfs.path_of(directory->fd()));
             found.push_back({std::move(path), std::move(text)});
             return {};
           }));
  return found;
}

}  // namespace ocirun::cgroups
