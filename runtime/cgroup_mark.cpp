#include "runtime/cgroup_mark.hpp"

#include "cgroups/host_cgroup.hpp"
#include "cgroups/mark.hpp"
#include "linux/procfs.hpp"

namespace ocirun::runtime {

Result<void> mark_cgroup(const StateDirectory& directory, const cgroups::Record& cgroup) {
  TRY_ASSIGN(const std::string identity, directory.identity());
  return cgroups::write_mark(cgroup, identity + bundle::cgroup_text(cgroup));
}

bool is_of_another(const StateDirectory& directory, const bundle::ContainerRecord& record) {
  if (!record.cgroup_is_marked) return false;
  const auto identity = directory.identity();
  return identity && !cgroups::read_mark(record.cgroup).starts_with(*identity);
}

Result<std::optional<cgroups::Record>> find_cgroup_of(const StateDirectory& directory) {
  TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  const auto layout = cgroups::read_layout(procfs);
  if (!layout) return std::nullopt;  // no cgroups, no container in one
  TRY_ASSIGN(const std::string identity, directory.identity());
  TRY_ASSIGN(const auto marked, cgroups::find_marks(procfs, *layout, identity));
  std::optional<cgroups::Record> found;
  for (const auto& [path, text] : marked) {
    auto cgroup = bundle::parse_cgroup(std::string_view(text).substr(identity.size()));
    if (!cgroup) continue;
    // A mark speaks of the directory that it is on, whatever it says. Below its own a container
    // may make more.
    cgroup->directories = cgroups::planned_record(*layout, {cgroup->path}).directories;
    if (cgroup->directories.front().second != path) continue;
    if (!found || cgroup->path.size() < found->path.size()) found = std::move(*cgroup);
  }
  return found;
}

}  // namespace ocirun::runtime
