#pragma once

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "runtime/base/options.hpp"
#include "runtime/parent/create_request.hpp"

namespace ocirun::runtime {

/// What is written of a container that is to be made: all that is known before anything of it
/// exists. Errors: a path that a record cannot hold.
Result<bundle::ContainerRecord> new_record(const CreateRequest& request,
                                           const bundle::Config& config,
                                           const cgroups::Record& cgroup, CgroupManager manager);

/// Begins the intent of `record` with the calling process, by which a later command tells whether
/// the `create` still goes on; a foreground `run` is noted in the record too.
void note_runtime(const CreateRequest& request, bundle::ContainerRecord& record,
                  bundle::IntentRecord& intent);

}  // namespace ocirun::runtime
