#pragma once

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// `error` behind a sentence on the commonest mistake with user namespaces, where that is made: the
/// root filesystem belongs to a user whom /linux/uidMappings does not map, so that the container
/// may make nothing in it (EACCES, EOVERFLOW). Other errors are returned as they are.
Error explain_unmapped_root(Error error, const bundle::Config& config);

}  // namespace ocirun::runtime
