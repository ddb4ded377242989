#pragma once

#include <memory>

#include "bundle/documents/state.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/base/error.hpp"

namespace ocirun::runtime {

// What the record of a container says, for every command.

/// The document that hooks and `state` show of a record.
bundle::StateDocument document_of(const bundle::ContainerRecord& record);

/// The cgroup that a record remembers, whatever manages it.
Result<std::unique_ptr<cgroups::Cgroup>> cgroup_of(const bundle::ContainerRecord& record);
/// Whether it has none of its own: none was asked for, or none was planned before a crash.
bool is_without_cgroup(const bundle::ContainerRecord& record);

}  // namespace ocirun::runtime
