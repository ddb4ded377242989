#pragma once

#include <optional>

#include "bundle/documents/state.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// Writes record.cgroup_mark on the container's cgroup, and what a damaged state cannot tell of it.
/// Errors: those of cgroups::write_mark().
Result<void> mark_cgroup(const bundle::ContainerRecord& record);

/// Whether the host's root has marked the cgroup of `record` as another container's.
bool bears_mark_of_another(const bundle::ContainerRecord& record);

/// Whether the cgroup of `record`, whose init is not there any more, is none of the container's: it
/// was never made (a create was killed, and somebody else is in that place), or was made anew
/// since. Errors: its mark cannot be read.
Result<bool> is_of_another(const Store& store, const StateDirectory& directory,
                           const bundle::ContainerRecord& record);
/// The same of a container that was committed, as far as marks alone tell.
Result<bool> was_made_anew(const bundle::ContainerRecord& record);

/// A cgroup that says that it is the one of `directory`, and what else of it can be believed.
struct MarkedCgroup {
  cgroups::Record record;
  bool is_proven = false;  // nobody without CAP_SYS_ADMIN on the host can have said so
};
/// Wherever it is; nothing where none says so. Root of the host, for a state of its own, believes
/// only marks that root wrote.
Result<std::optional<MarkedCgroup>> find_cgroup_of(const StateDirectory& directory);

}  // namespace ocirun::runtime
