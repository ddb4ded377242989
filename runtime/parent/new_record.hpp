#pragma once

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "runtime/base/options.hpp"
#include "runtime/parent/create_request.hpp"

namespace ocirun::runtime {

/// What is written of a container that is to be made: all that is known before anything of it
/// exists, and the calling process where it is a foreground `run`. Errors: a path that a record
/// cannot hold.
Result<bundle::ContainerRecord> new_record(const CreateRequest& request,
                                           const bundle::Config& config,
                                           const cgroups::Record& cgroup, CgroupManager manager);

/// The intent of `record`, with the calling process: by this process a later command tells whether
/// the `create` is still going on.
bundle::IntentRecord begin_intent(const bundle::ContainerRecord& record);

}  // namespace ocirun::runtime
