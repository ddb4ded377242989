#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bundle/json/value.hpp"

namespace ocirun::pods {

/// When an image is fetched from its registry. kMissing: if the store does not have it.
enum class PullPolicy : std::uint8_t { kAlways, kMissing, kNever };

/// Reads imagePullPolicy of a container: "Always", "IfNotPresent" or "Never".
bool image_pull_policy(bundle::Value at, PullPolicy& out);
/// The word of imagePullPolicy for `policy`.
std::string_view pull_policy_word(PullPolicy policy);

/// The secret with the credentials for the registry of an image.
struct PullSecret {
  std::string name;
  const bundle::Node* place = nullptr;
};

}  // namespace ocirun::pods
