#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// The means by which a need is met: an option (--secret, --param, --volume, --extended, --image,
/// --pull-secret; kConnection: --param for each property of a connection), CDI specifications of
/// the host (kDevices), or no means (kNone).
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
  // The document has a fault: an App Container pod manifest is not reified (AC-5, AC-8), a secret
  // of the file lacks a key, a part of a GPU is asked for (OAM-32). `pod validate` reports an
  // error.
  bool is_fault = false;
  bool is_optional = false;     // it may be absent
  bool may_be_devices = false;  // kExtended: CDI devices of this kind give it too
};

/// All needs of a pod, each once, in the order of the containers and volumes.
std::vector<Need> needs_of(const Pod& pod);

}  // namespace ocirun::pods
