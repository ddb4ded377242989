#include "pods/model/kept.hpp"

#include <algorithm>

namespace ocirun::pods {

void keep_metadata(std::map<std::string, std::string>& labels,
                   std::map<std::string, std::string>& annotations, Pod& out) {
  for (const auto& [name, value] : labels)
    if (!annotations.contains(name) && !out.annotations.contains(name)) out.labels[name] = value;
  annotations.merge(labels);
  out.annotations.merge(annotations);
}

void ask_for_replicas(bundle::Value at, std::uint32_t count, Pod& out) {
  if (!out.replicas)
    out.replicas = {.count = count, .place = &at.node()};
  else if (out.replicas->count != count)
    out.replicas = {.count = std::max(out.replicas->count, count),
                    .place = out.replicas->place,
                    .differs = &at.node()};
  if (count == 1) return;
  out.elsewhere.push_back(
      {fmt::format("{} replicas need several machines: one machine runs 1", count), &at.node()});
}

}  // namespace ocirun::pods
