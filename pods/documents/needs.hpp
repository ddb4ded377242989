#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// The option that gives a need: --secret, --param, --volume, --extended, --image, --pull-secret,
/// or --param for each property of a connection. kDevices: CDI specifications of the host do.
/// kNone: no option can.
enum class Gift : std::uint8_t {
  kSecret,
  kParameter,
  kVolume,
  kExtended,
  kImage,
  kPullSecret,
  kConnection,
  kDevices,
  kNone,
};

/// Something that a document names and only the operator has: a parameter, a secret, a directory
/// for a volume, an extended resource, an image.
struct Need {
  std::string sentence;  // names the option of `pod run` that gives it
  Place place = nullptr;
  Gift gift = Gift::kNone;
  std::vector<std::string> names;  // the option must have one of these names
  // No option can give it, so that the pod cannot run: an App Container pod manifest must be
  // reified (AC-5, AC-8); a part of a GPU is not provided (OAM-32).
  bool is_fault = false;
  bool is_optional = false;     // it may be absent
  bool may_be_devices = false;  // kExtended: CDI devices of this kind give it too
};

/// All needs of a pod, each once, in the order of the containers and volumes.
std::vector<Need> needs_of(const Pod& pod);

}  // namespace ocirun::pods
