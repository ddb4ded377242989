#pragma once

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "runtime/base/options.hpp"
#include "runtime/parent/create_request.hpp"

namespace ocirun::runtime {

/// The record of a container that is about to be made, with all that is known before any part of
/// the container exists. A foreground `run` is recorded as its attendant. Error: a path is not
/// UTF-8.
Result<bundle::ContainerRecord> new_record(const CreateRequest& request,
                                           const bundle::Config& config,
                                           const cgroups::Record& cgroup, CgroupManager manager);

/// The intent of `record`, with the identity of the calling process. From that identity a later
/// command learns whether the `create` is still running.
/// Errors: /proc does not show the calling process.
Result<bundle::IntentRecord> begin_intent(const bundle::ContainerRecord& record);

}  // namespace ocirun::runtime
