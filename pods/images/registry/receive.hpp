#pragma once

#include "linux/base/paths.hpp"
#include "pods/images/registry/pull.hpp"

namespace ocirun::pods {

/// Lets skopeo copy the image of `origin` into `directory`, a new directory at `path` on the
/// filesystem of the store, verifies everything, and moves the image into the store. The caller has
/// locked the origin, and removes the directory. Errors: those of pull(); the store is then as
/// before.
Result<void> receive(const Store& store, const Origin& origin, const PullRequest& request,
                     Fd directory, const HostPath& path);

}  // namespace ocirun::pods
