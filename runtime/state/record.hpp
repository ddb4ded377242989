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
/// False also where the state of the freezer cannot be read.
bool is_frozen(const bundle::ContainerRecord& record);
/// Whether the record names no cgroup of the container's own: --cgroup-manager=disabled, or none
/// could be made (go_without_cgroup()), or the record was lost and no mark found (lost_record.hpp).
bool is_without_cgroup(const bundle::ContainerRecord& record);

}  // namespace ocirun::runtime
