#pragma once

#include <cstdint>
#include <string>

#include "bundle/json/document.hpp"

namespace ocirun::pods {

/// When an image is fetched from its registry. kMissing: if the store does not have it.
enum class PullPolicy : std::uint8_t { kAlways, kMissing, kNever };

/// The secret with the credentials for the registry of an image.
struct PullSecret {
  std::string name;
  const bundle::Node* place = nullptr;
};

}  // namespace ocirun::pods
