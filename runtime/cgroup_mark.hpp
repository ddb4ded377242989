#pragma once

#include <optional>

#include "bundle/state_document.hpp"
#include "runtime/store.hpp"

namespace ocirun::runtime {

/// Says on a container's cgroup that it belongs to the state in `directory`, and all that a
/// damaged state cannot tell of it. Errors: those of cgroups::write_mark().
Result<void> mark_cgroup(const StateDirectory& directory, const cgroups::Record& cgroup);

/// Whether the cgroup that `record` names was never this container's, or no longer is: a create
/// that was killed has not made it, or another container was made in it since. Without marks on
/// this kernel nobody can tell, and it is not.
bool is_of_another(const StateDirectory& directory, const bundle::ContainerRecord& record);

/// The cgroup that says that it is the one of `directory`, wherever it is; nothing where none does.
Result<std::optional<cgroups::Record>> find_cgroup_of(const StateDirectory& directory);

}  // namespace ocirun::runtime
