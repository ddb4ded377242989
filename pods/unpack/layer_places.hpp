#pragma once

#include <optional>
#include <span>

#include "pods/images/layer.hpp"

namespace ocirun::pods {

/// The directories of a process that unpacks a layer.
struct LayerPlaces {
  Fd into;
  std::optional<Fd> below;  // of the layers of the store, with those below
};

/// Gives up what unpacking a layer does not need: descriptors but `report`, `keep` and those of
/// `places`, all capabilities but a few, core dumps and most memory. Where the process may make a
/// mount namespace, it sees nothing but `places.into` and, read-only, `places.below`, which become
/// other descriptors. From now on the process is killed when its caller ends, who alone reads the
/// pipe `report`.
Result<void> confine_to(LayerPlaces& places, OpaqueMark mark, Fd report, std::span<const Fd> keep);

}  // namespace ocirun::pods
