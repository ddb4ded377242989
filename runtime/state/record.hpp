#pragma once

#include <memory>

#include "bundle/documents/state.hpp"
#include "cgroups/container/cgroup.hpp"
#include "linux/base/error.hpp"

namespace ocirun::runtime {

// What every command derives from a container's record.

/// The state document (runtime.md#state) of the record, without a status: hooks get the document on
/// stdin, `state` prints it.
bundle::StateDocument document_of(const bundle::ContainerRecord& record);

/// The cgroup that the record names, of the cgroupfs driver or the systemd driver.
Result<std::unique_ptr<cgroups::Cgroup>> cgroup_of(const bundle::ContainerRecord& record);
/// Whether the container has no cgroup of its own: the document asks for none, or `create` ended
/// before it chose one.
bool is_without_cgroup(const bundle::ContainerRecord& record);

}  // namespace ocirun::runtime
