#pragma once

#include <string>
#include <string_view>

namespace ocirun::pods {

/// For which machines an image was built (image-index.md, `platform`). The words are those of Go:
/// "linux", "amd64", "arm" with variant "v7".
struct Platform {
  std::string os;
  std::string architecture;
  std::string variant;  // "" if the image says none

  /// The platform of the machine that this program runs on.
  static Platform host();

  /// "linux/arm64/v8"
  std::string text() const;
  friend bool operator==(const Platform&, const Platform&) = default;
};

/// How well an image for `image` suits the machine `machine`: 0 not at all; the best number wins.
/// An arm machine also runs images for earlier variants ("v6" on v7), an amd64 machine those of a
/// lower level ("v2" on v3). Of the machine's level is known only that it is at least the base one.
int suitability(const Platform& image, const Platform& machine);

}  // namespace ocirun::pods
