#pragma once

#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// Refuses a manifest that names places for its blobs beside the registry (`urls` of a descriptor).
/// skopeo asks such places for a configuration, from the network of this machine, and leaves out
/// layers that have some. `what` names the manifest in the error, which has the place.
Result<void> check_no_other_places(std::string_view what, std::string_view text);

}  // namespace ocirun::pods
