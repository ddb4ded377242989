#include <algorithm>
#include <array>

#include "pods/documents/kubernetes/pod_spec.hpp"
#include "pods/documents/kubernetes/workload.hpp"
#include "pods/documents/model/pod_fields.hpp"

namespace ocirun::pods {
namespace {

/// KEY of "metadata.labels['KEY']"; nothing for another path.
std::optional<std::string> key_in(std::string_view path, std::string_view map) {
  if (!path.starts_with(map)) return std::nullopt;
  path.remove_prefix(map.size());
  if (!path.starts_with("['") || !path.ends_with("']") || path.size() <= 4) return std::nullopt;
  return std::string(path.substr(2, path.size() - 4));
}

std::string value_in(const std::map<std::string, std::string>& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? "" : found->second;
}

/// The value of a field; nothing for a field that only a cluster has.
std::optional<std::string> field_value(std::string_view path, const Pod& pod) {
  if (auto value = field_of_name(path, pod, pod.name)) return value;
  if (path == "metadata.namespace") return pod.kubernetes->name_space;
  if (const auto label = key_in(path, "metadata.labels"))
    return value_in(pod.metadata.labels, *label);
  if (const auto annotation = key_in(path, "metadata.annotations"))
    return value_in(pod.metadata.annotations, *annotation);
  if (path == "spec.serviceAccountName") return pod.kubernetes->account;
  return std::nullopt;
}

bool is_of_cluster(std::string_view path) {
  static constexpr std::array<std::string_view, 7> kPaths = {
      "metadata.uid", "spec.nodeName", "status.hostIP", "status.hostIPs",
      "status.podIP", "status.podIPs", "status.phase"};
  return std::ranges::find(kPaths, path) != kPaths.end();
}

void resolve(Value at, EnvVariable& variable, const Pod& pod) {
  const auto from = at.member("valueFrom");
  const auto reference = from ? from->member("fieldRef") : from;
  if (!reference) return;
  if (auto value = field_value(variable.field, pod)) {
    variable.value = *std::move(value);
    return;
  }
  variable.value = std::string();
  if (is_of_cluster(variable.field)) {
    refuse_known_name(*reference, fmt::format("{} is known only in a cluster", variable.field));
    return;
  }
  reference->problem_at("fieldPath",
                        "must be metadata.name, metadata.namespace, metadata.labels['KEY'], "
                        "metadata.annotations['KEY'] or spec.serviceAccountName, not \"{}\"",
                        variable.field);
}

}  // namespace

/// A label or an annotation may be long, and many variables may refer to it: no more bytes are
/// copied than execve(2) ever takes.
void resolve_fields(Value at, Pod& pod) {
  constexpr std::size_t kMost = std::size_t{6} << 20;
  for (std::vector<Container>* containers : {&pod.init_containers, &pod.containers})
    for (Container& container : *containers) {
      std::size_t sum = 0;
      for (EnvVariable& variable : container.env) {
        if (variable.field.empty()) continue;
        const Value place(*variable.place, at.report());
        resolve(place, variable, pod);
        sum += std::get<std::string>(variable.value).size();
        if (sum <= kMost) continue;
        place.problem("the variables with a fieldRef would have more than {} MiB together",
                      kMost >> 20);
        break;
      }
    }
}

}  // namespace ocirun::pods
