#include "pods/documents/model/kept.hpp"

#include <algorithm>

namespace ocirun::pods {

void keep_metadata(Metadata more, Metadata& out) {
  out.labels.merge(more.labels);
  out.annotations.merge(more.annotations);
}

std::map<std::string, std::string> bundle_annotations(const Pod& pod) {
  std::map<std::string, std::string> merged;
  const auto add = [&](const Metadata& metadata) {
    merged.insert(metadata.annotations.begin(), metadata.annotations.end());
    merged.insert(metadata.labels.begin(), metadata.labels.end());
  };
  add(pod.metadata);
  if (pod.controller_metadata) add(*pod.controller_metadata);
  return merged;
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
      {count == 0 ? "0 replicas are no pod to run"
                  : fmt::format("{} replicas need several machines: one machine runs 1", count),
       &at.node()});
}

}  // namespace ocirun::pods
