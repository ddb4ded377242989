#include "pods/prepare/plan/variables.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace ocirun::pods {

NamedValues platform_variables(const Pod& pod, const Container& container) {
  NamedValues out;
  if (pod.kind == Kind::kAppc) out.emplace_back("AC_APP_NAME", container.name);
  if (!pod.metadata_url.empty()) out.emplace_back("AC_METADATA_URL", pod.metadata_url);
  if (!pod.knative) return out;
  if (!container.ports.empty())
    out.emplace_back("PORT", fmt::format("{}", container.ports.front().number));
  const std::array<std::pair<std::string_view, const std::string*>, 3> names{{
      {"K_SERVICE", &pod.knative->service},
      {"K_CONFIGURATION", &pod.knative->configuration},
      {"K_REVISION", &pod.knative->revision},
  }};
  for (const auto& [name, value] : names)
    if (!value->empty()) out.emplace_back(name, *value);
  return out;
}

NamedValues connection_variables(const Pod& pod, const Bindings& bindings) {
  NamedValues out;
  for (const Connection& connection : pod.connections) {
    if (!connection.sets_variables) continue;
    for (const auto& [property, value] : connection.of_url) {
      const std::string name = fmt::format("{}.{}", connection.name, property);
      if (!bindings.parameters.contains(name)) out.emplace_back(connection_variable(name), value);
    }
    const std::string prefix = connection.name + ".";
    const auto& all = bindings.parameters;
    for (auto at = all.lower_bound(prefix); at != all.end() && at->first.starts_with(prefix); ++at)
      out.emplace_back(connection_variable(at->first), at->second);
  }
  return out;
}

bool has_references(const Pod& pod) {
  return pod.kind == Kind::kKnative || pod.kind == Kind::kRadius || pod.kind == Kind::kKubernetes;
}

}  // namespace ocirun::pods
