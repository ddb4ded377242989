#pragma once

#include <optional>

#include "bundle/documents/state.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// Marks the container's cgroup with record.cgroup_mark and with the facts that `delete --force`
/// needs when state.json is damaged. Errors: those of cgroups::write_mark().
Result<void> mark_cgroup(const bundle::ContainerRecord& record);

/// Whether a mark that root of the host wrote gives the cgroup in `record` to another container.
bool bears_mark_of_another(const bundle::ContainerRecord& record);

/// Whether the cgroup at the path in `record` belongs to somebody else. To be asked for a container
/// whose init has ended. Either `create` was killed before it made the cgroup, and somebody else
/// uses the path, or somebody else made a cgroup there after the container's cgroup was removed.
/// Errors: the mark cannot be read.
Result<bool> is_of_another(const Store& store, const StateDirectory& directory,
                           const bundle::ContainerRecord& record);

/// A cgroup whose mark names a state directory.
struct MarkedCgroup {
  cgroups::Record record;
  bool is_proven = false;  // only CAP_SYS_ADMIN of the host could write the mark
};
/// Searches all cgroups for one whose mark names `directory`; nothing if no mark does. If root of
/// the host owns `directory`, only marks that root of the host wrote count.
Result<std::optional<MarkedCgroup>> find_cgroup_of(const StateDirectory& directory);

}  // namespace ocirun::runtime
