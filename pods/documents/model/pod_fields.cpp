#include "pods/documents/model/pod_fields.hpp"

#include <algorithm>
#include <vector>

#include "linux/base/letters.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {

bool is_pod_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestPodName && linux::is_alphanumeric(name.front()) &&
         linux::is_alphanumeric(name.back()) && std::ranges::all_of(name, [&](char c) {
           return linux::is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

std::optional<std::string> field_of_name(std::string_view path, const Pod& pod,
                                         const std::string& name) {
  if (path == "metadata.name") return name;
  if (!pod.kubernetes || pod.kubernetes->kind != "StatefulSet") return std::nullopt;
  if (path == "metadata.labels['statefulset.kubernetes.io/pod-name']") return name;
  if (path != "metadata.labels['apps.kubernetes.io/pod-index']") return std::nullopt;
  const std::string ordinal = name.substr(name.rfind('-') + 1);
  const bool is_number =
      !ordinal.empty() && ordinal.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? ordinal : "0";
}

std::string network_alias(const Pod& pod, const std::string& name) {
  const std::string& set = workload_name(pod);
  const bool is_own = name == pod.name && name == first_pod_of(set);
  return is_own && is_dns_label(set) && !set.contains("localhost") ? set : "";
}

void rename_pod_in_parts(const std::string& name, Pod& pod) {
  for (Volume& volume : pod.volumes)
    if (name != pod.name && volume.is_claimed &&
        volume.source == claim_of_template(volume.name, workload_name(pod)))
      volume.source = claim_of_template(volume.name, name);
  for (std::vector<Container>* containers : {&pod.init_containers, &pod.containers})
    for (Container& container : *containers)
      for (EnvVariable& variable : container.env)
        if (auto value = field_of_name(variable.field, pod, name))
          variable.value = *std::move(value);
}

}  // namespace ocirun::pods
