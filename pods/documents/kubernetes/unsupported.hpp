#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {

/// What to write in place of a kind of volume that is not supported.
inline constexpr std::string_view kClaimInstead =
    "write persistentVolumeClaim, for which --volume NAME=HOSTPATH gives a directory";

/// The objects of a document whose members unsupported_of() lists.
enum class PartOfPod : std::uint8_t {
  kPod,
  kPodSecurity,
  kContainer,
  kContainerSecurity,
  kVariable,  // valueFrom
  kMount,
  kVolume,
  kService,
};

/// The members that Kubernetes has and a pod of one machine does not. `pod run` refuses them, and
/// `pod export` copies them. Readers of single values refuse some more (refuse_known_name()).
std::span<const UnsupportedName> unsupported_of(PartOfPod part);

}  // namespace ocirun::pods
