#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linux/namespaces/id_map.hpp"
#include "linux/namespaces/subordinate_ids.hpp"

namespace ocirun::linux {

/// The map of the user namespace that the caller is in. Errors: /proc cannot be read; ENOENT: the
/// kernel has no user namespaces.
Result<std::vector<IdMapping>> own_id_map(IdKind kind);

/// Whether the caller is in the initial user namespace, which maps all ids in one line. Another
/// user namespace with the same map is taken for the initial one. True where own_id_map() fails.
bool is_in_initial_user_namespace();

/// Why clone3(2) or unshare(2) refused the namespaces of `flags` (CLONE_NEW*) with `error`: the
/// sysctl, limit or field of config.json to change, as a sentence; "" where nothing more is known.
std::string why_namespaces_are_refused(int error, std::uint64_t flags);

/// Why a new user namespace has no privileges (writing its maps, or its first mount, is refused):
/// Ubuntu's kernel.apparmor_restrict_unprivileged_userns. "" for any other reason.
std::string why_user_namespace_is_powerless();

}  // namespace ocirun::linux
