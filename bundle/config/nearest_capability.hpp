#pragma once

#include <string>
#include <string_view>

namespace ocirun::bundle {

/// The capability that `written` means, "CAP_NET_ADMIN" for "NET_ADMIN", "cap_netadmin" or
/// "CAP_NET_ADMNI": the prefix, underscores and case do not count, and nearest() forgives typing
/// mistakes. "" if that would be a guess.
std::string nearest_capability(std::string_view written);

}  // namespace ocirun::bundle
