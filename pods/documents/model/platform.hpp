#pragma once

#include <string>

namespace ocirun::pods {

/// The machines that an image was built for (image-index.md, `platform`), in the words of Go:
/// "linux", "amd64", "arm" with the variant "v7".
struct Platform {
  std::string os;
  std::string architecture;
  std::string variant;  // "" if the image has none

  /// The platform of this machine.
  static Platform host();

  /// "linux/arm64/v8"
  std::string text() const;
  friend bool operator==(const Platform&, const Platform&) = default;
};

/// How well an image of the platform `image` suits the machine `machine`. 0: it does not run there.
/// The image with the largest number is the best. An arm machine also runs images for earlier
/// variants ("v6" on v7), an amd64 machine those of a lower level ("v2" on v3). The level of an
/// amd64 machine is not read: the base level is assumed.
int suitability(const Platform& image, const Platform& machine);

}  // namespace ocirun::pods
