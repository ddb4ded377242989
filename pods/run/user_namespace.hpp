#pragma once

#include <functional>

#include "linux/base/error.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

// The pods of an ordinary user run in user namespaces in which the user is root, and the ids that
// /etc/subuid and /etc/subgid lend the user are 1, 2 … All these namespaces have the same map, so
// that a file of the store has the same owner in each.

/// Makes the calling process root of a new user namespace, with a mount namespace of its own. A
/// user to whom no ids are lent has root there and no other id. The caller must have a single
/// thread and must not be root. Errors: newuidmap is missing or refuses; the host allows no user
/// namespaces.
Result<void> become_root_of_own_namespace();

/// Makes the calling process root of the user namespace of a pod, with a mount namespace of its
/// own. When no process of the pod runs: the same as become_root_of_own_namespace(). A namespace
/// that is not the calling user's is never entered.
Result<void> become_root_of_namespace_of(const PodRecord& record);

/// Calls `act` as root of the pod's user namespace: for an ordinary user, in a child process,
/// because a process cannot leave a user namespace. For root, calls it directly. Errors: those of
/// `act`.
Result<void> as_root_of(const PodRecord& record, const std::function<Result<void>()>& act);

}  // namespace ocirun::pods
