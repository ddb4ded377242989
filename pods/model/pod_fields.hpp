#pragma once

#include <string>
#include <string_view>

#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// The fieldPath of a pod's name.
inline constexpr std::string_view kNameField = "metadata.name";

/// Gives the variables that have the name of the pod another name.
inline void rename_in_variables(const std::string& name, Pod& pod) {
  for (std::vector<Container>* containers : {&pod.init_containers, &pod.containers})
    for (Container& container : *containers)
      for (EnvVariable& variable : container.env)
        if (variable.field == kNameField) variable.value = name;
}

}  // namespace ocirun::pods
