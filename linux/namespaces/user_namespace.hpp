#pragma once

#include <cstdint>
#include <string>

namespace ocirun::linux {

/// Why clone3(2) or unshare(2) refused the namespaces of `flags` (CLONE_NEW*) with `error`: the
/// sysctl, limit or field of config.json to change, as a sentence; "" where nothing more is known.
std::string why_namespaces_are_refused(int error, std::uint64_t flags);

/// Why a new user namespace has no privileges (writing its maps, or its first mount, is refused):
/// Ubuntu's kernel.apparmor_restrict_unprivileged_userns. "" for any other reason.
std::string why_user_namespace_is_powerless();

}  // namespace ocirun::linux
