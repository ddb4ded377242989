#include "pods/model/kept.hpp"
#include "pods/radius/resource.hpp"

namespace ocirun::pods {
namespace {

struct ManualScaling {
  std::uint32_t replicas = 1;
};

bool manual_kind(Value at, ManualScaling& /*out*/) {
  std::string word;
  if (!string(at, word)) return false;
  if (word == "manualScaling") return true;
  at.problem("must be manualScaling, not {}", found(at));
  return false;
}

bool manual_scaling(Value at, Pod& out) {
  static constexpr auto kManual = exact_fields<ManualScaling>(
      required("replicas", &ManualScaling::replicas, bundle::range(1, 2'147'483'647)),
      part("kind", manual_kind));
  ManualScaling scaling;
  if (!kManual(at, scaling)) return false;
  ask_for_replicas(*at.member("replicas"), scaling.replicas, out);
  return true;
}

/// Labels and annotations of the objects that Radius makes in a cluster.
bool kubernetes_metadata(Value at, Pod& out) {
  struct Metadata {
    std::map<std::string, std::string> labels, annotations;
  };
  static constexpr auto kTable = exact_fields<Metadata>(
      part("kind", any_value), field("labels", &Metadata::labels, string_map),
      field("annotations", &Metadata::annotations, string_map));
  Metadata metadata;
  if (!kTable(at, metadata)) return false;
  keep_metadata(metadata.labels, metadata.annotations, out);
  return true;
}

bool extension(Value at, std::string_view kind, Edition edition, Pod& out) {
  if (kind == "manualScaling") return manual_scaling(at, out);
  if (kind == "daprSidecar") return refuse_known(at, kind, "no Dapr runs beside the containers");
  const bool is_core = edition == Edition::kCore;
  if (kind == "kubernetesMetadata") {
    if (is_core) return kubernetes_metadata(at, out);
    at.problem(
        "was removed from the resource type: a recipe of the platform sets labels and annotations");
  } else {
    at.problem("unknown extension (known: manualScaling, daprSidecar{})",
               is_core ? ", kubernetesMetadata" : "");
  }
  return false;
}

}  // namespace

bool radius_extensions(Value at, Edition edition, Pod& out) {
  bool good = true;
  if (at.node().is_array()) {  // [{"kind": "manualScaling", "replicas": 2}]
    for (const Value item : at) {
      const auto kind = item.member("kind");
      std::string word;
      if (!kind) {
        item.problem_at("kind", "is missing, it is required");
        good = false;
      } else {
        good &= string(*kind, word) && extension(item, word, edition, out);
      }
    }
    return good;
  }
  if (!at.expect_object()) return false;
  for (const Value member : at) good &= extension(member, member.key(), edition, out);
  return good;
}

}  // namespace ocirun::pods
