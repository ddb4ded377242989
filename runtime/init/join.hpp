#pragma once

#include <functional>
#include <span>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/protocol/plans.hpp"

namespace ocirun::runtime {

/// Joins pinned namespaces: first those that need the host's privileges, then the user namespace,
/// then those that belong to that user namespace, the mount namespace last. `enter_user` joins or
/// makes the user namespace and becomes its root; it is called once, also without a user namespace.
/// `changes_user`: a namespace that cannot be joined before `enter_user` is tried again after it.
Result<void> join_namespaces(std::span<const linux::PinnedNamespace> pinned, bool changes_user,
                             const std::function<Result<void>()>& enter_user);

/// Joins the pinned user namespace, if there is one.
Result<void> join_user_namespace(std::span<const linux::PinnedNamespace> pinned);

// Entering a container that exists already, for `exec` and `update`.

/// Finds the namespaces of `init` that have one of `kinds` and that config.json lists. Opens a
/// pidfd of `init`, or each of the namespaces if a pidfd is not enough. Errors: ESRCH, "container
/// not running".
Result<ContainerNamespaces> find_container_namespaces(const linux::ProcessIdentity& init,
                                                      const bundle::Config& config,
                                                      std::span<const linux::NamespaceKind> kinds);

/// As find_container_namespaces(), but always opens each of the namespaces.
Result<ContainerNamespaces> pin_container_namespaces(const linux::ProcessIdentity& init,
                                                     const bundle::Config& config,
                                                     std::span<const linux::NamespaceKind> kinds);

/// Joins the namespaces. If one of them is a user namespace, the caller becomes its root. Errors:
/// those of setns(2), with the name of the namespace; ENOENT or ESRCH if init has ended.
Result<void> enter_container(const ContainerNamespaces& namespaces, const bundle::Config& config);

}  // namespace ocirun::runtime
