#pragma once

#include <span>

#include "pods/images/layer.hpp"

namespace ocirun::pods {

/// The directories of a process that unpacks a layer.
struct LayerPlaces {
  Fd into;
  Fd below;  // -1: no layers are below
};

/// Gives up what unpacking a layer does not need: descriptors but `keep` and those of `places`, all
/// capabilities but a few, core dumps and most memory. Where the process may make a mount
/// namespace, it sees nothing but `places.into` and, read-only, `places.below`, which become other
/// descriptors.
Result<void> confine_to(LayerPlaces& places, OpaqueMark mark, std::span<const Fd> keep);

/// Gives up everything but the descriptors 0 to `last`, and may write no file beyond `most_bytes`.
Result<void> confine_to_descriptors(int last, std::uint64_t most_bytes);

}  // namespace ocirun::pods
