#pragma once

#include <span>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::runtime {

// How `exec` and `update` get into a container that is there.

/// The namespaces of `kinds` that `init` lives in, of those that config.json lists. Errors: ESRCH,
/// "container not running".
Result<std::vector<linux::PinnedNamespace>> pin_container_namespaces(
    const linux::ProcessIdentity& init, const bundle::Config& config,
    std::span<const linux::NamespaceKind> kinds);

/// Joins them, and becomes the root of the user namespace if the container has one.
Result<void> enter_container(std::span<const linux::PinnedNamespace> pinned,
                             const bundle::Config& config);

}  // namespace ocirun::runtime
