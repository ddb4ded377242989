#pragma once

#include <functional>

#include "linux/base/error.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

// The pods of an ordinary user run in user namespaces. There the user is root, and has the ids of
// /etc/subuid and /etc/subgid as 1, 2 … All these namespaces have the same map, so that a file of
// the store has the same owner in each.

/// Makes the calling process root of a new user namespace, with a mount namespace of its own. A
/// user without ids in /etc/subuid and /etc/subgid is root there, and has no other id. The caller
/// must have a single thread and must not be root. Errors: newuidmap is missing or refuses; the
/// host allows no user namespaces.
Result<void> become_root_of_own_namespace();

/// Makes the calling process root of the user namespace of a pod, with a mount namespace of its
/// own. If no process of the pod runs, does the same as become_root_of_own_namespace(). Never
/// enters a namespace of another user.
Result<void> become_root_of_namespace_of(const PodRecord& record);

/// Calls `act` as root of the pod's user namespace. For an ordinary user, calls it in a child
/// process, because a process cannot leave a user namespace. For root, calls it directly. Errors:
/// those of `act`.
Result<void> as_root_of(const PodRecord& record, const std::function<Result<void>()>& act);

}  // namespace ocirun::pods
