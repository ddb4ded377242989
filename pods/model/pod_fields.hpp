#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// The fieldPath of a pod's name.
inline constexpr std::string_view kNameField = "metadata.name";

/// The claim that a cluster makes of the template `volume` for the first pod of the StatefulSet
/// `set`.
inline std::string claim_of_template(std::string_view volume, std::string_view set) {
  return fmt::format("{}-{}-0", volume, set);
}

/// Gives what has the name of the pod another name: variables, and volumes of templates.
inline void rename_pod_in_parts(const std::string& name, Pod& pod) {
  for (Volume& volume : pod.volumes)
    if (volume.is_claimed && volume.source == claim_of_template(volume.name, pod.name))
      volume.source = claim_of_template(volume.name, name);
  for (std::vector<Container>* containers : {&pod.init_containers, &pod.containers})
    for (Container& container : *containers)
      for (EnvVariable& variable : container.env)
        if (variable.field == kNameField) variable.value = name;
}

}  // namespace ocirun::pods
