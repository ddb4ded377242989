#pragma once

#include <optional>

#include "bundle/state_document.hpp"
#include "runtime/store.hpp"

namespace ocirun::runtime {

/// Writes record.cgroup_mark on the container's cgroup, and what a damaged state cannot tell of it.
/// Errors: those of cgroups::write_mark().
Result<void> mark_cgroup(const bundle::ContainerRecord& record);

/// Whether the host's root has marked the cgroup of `record` as another container's.
bool bears_mark_of_another(const bundle::ContainerRecord& record);

/// Whether somebody is in the cgroup of `record` who is none of the container's: it was never made
/// (a create was killed, with another's cgroup in that place), or a container was made in it since.
/// For containers whose init is not there any more.
bool is_of_another(const Store& store, const StateDirectory& directory,
                   const bundle::ContainerRecord& record);

/// A cgroup that says that it is the one of `directory`, and what else of it can be believed.
struct MarkedCgroup {
  cgroups::Record record;
  bool is_proven = false;  // no container can have said so
};
/// Wherever it is; nothing where none says so. Of a state of our own root of the host believes no
/// mark but its own.
Result<std::optional<MarkedCgroup>> find_cgroup_of(const StateDirectory& directory);

}  // namespace ocirun::runtime
