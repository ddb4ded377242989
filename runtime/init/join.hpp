#pragma once

#include <functional>
#include <span>

#include "linux/base/error.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

/// Joins pinned namespaces in the order that gives nothing away: what needs the host's power first,
/// then the user namespace (`enter_user` joins or makes it and becomes its root; called once
/// whether there is one or not), then what only that one owns, mount last. `changes_user` says
/// whether what is refused at first may be tried again inside.
Result<void> join_namespaces(std::span<const linux::PinnedNamespace> pinned, bool changes_user,
                             const std::function<Result<void>()>& enter_user);

/// Joins the pinned user namespace, if there is one.
Result<void> join_user_namespace(std::span<const linux::PinnedNamespace> pinned);

}  // namespace ocirun::runtime
