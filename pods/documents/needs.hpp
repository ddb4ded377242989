#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// What the operator gives: --secret, --param, --volume, --extended, --image, or --param for each
/// property of a connection. Nobody gives GPUs.
enum class Gift : std::uint8_t {
  kSecret,
  kParameter,
  kVolume,
  kExtended,
  kImage,
  kConnection,
  kNone,
};

/// Something that a document names and only the operator has: a parameter, a secret, a directory
/// for a volume, an extended resource, an image.
struct Need {
  std::string sentence;  // with the option of `pod run` that gives it
  Place place = nullptr;
  Gift gift = Gift::kNone;
  std::vector<std::string> names;  // the option must name one of these
  // Whether the pod cannot be run as it is: an App Container pod manifest must be reified (AC-5,
  // AC-8), and GPUs are not provided (OAM-32).
  bool is_fault = false;
  bool is_optional = false;  // it may be absent
};

/// All needs of a pod, in the order of its containers and volumes, each once.
std::vector<Need> needs_of(const Pod& pod);

}  // namespace ocirun::pods
