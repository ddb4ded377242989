#pragma once

#include <array>

#include "pods/documents/kubernetes/pod_spec.hpp"
#include "pods/documents/model/container_reader.hpp"

namespace ocirun::pods {

/// Refuses members of a container that ocirun does not support. Returns whether it knows the
/// member.
bool refuse_other_container_member(Value member);

/// The table of a container. `rows` are the members that Kubernetes and Knative read differently.
template <typename... Rows>
constexpr auto container_fields(Rows... rows) {
  constexpr std::string_view kNoMessage = "the status of the pod has no message of the container";
  return exact_fields<Container>(
             required_part("image", container_image),
             field("command", &Container::command, command_line),
             field("args", &Container::args, strings),
             field("workingDir", &Container::working_directory, container_path),
             field("envFrom", &Container::env_sources, container_env_sources),
             field("volumeMounts", &Container::mounts, container_mounts),
             field("imagePullPolicy", &Container::pull_policy, image_pull_policy),
             no_effect("terminationMessagePath", kNoMessage),
             no_effect("terminationMessagePolicy", kNoMessage), rows...)
      .beside(refuse_other_container_member);
}

}  // namespace ocirun::pods
