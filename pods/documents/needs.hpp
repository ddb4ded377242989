#pragma once

#include <string>
#include <vector>

#include "pods/documents/pod.hpp"

namespace ocirun::pods {

/// Something that a document names and only the operator has: a parameter, a secret, a directory
/// for a volume, an extended resource, an image.
struct Need {
  std::string sentence;  // with the option of `pod run` that gives it
  Place place = nullptr;
  // Whether the pod cannot be run as it is: an App Container pod manifest must be reified (AC-5,
  // AC-8), and GPUs are not provided (OAM-32).
  bool is_fault = false;
};

/// All needs of a pod, in the order of its containers and volumes, each once.
std::vector<Need> needs_of(const Pod& pod);

}  // namespace ocirun::pods
