#pragma once

#include <span>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::runtime {

// Entering a container that exists already, for `exec` and `update`.

/// Opens the namespaces of `init` that are of one of `kinds` and that config.json lists. Error:
/// ESRCH, "container not running".
Result<std::vector<linux::PinnedNamespace>> pin_container_namespaces(
    const linux::ProcessIdentity& init, const bundle::Config& config,
    std::span<const linux::NamespaceKind> kinds);

/// Joins the namespaces. Where one is a user namespace, the caller becomes its root.
Result<void> enter_container(std::span<const linux::PinnedNamespace> pinned,
                             const bundle::Config& config);

}  // namespace ocirun::runtime
