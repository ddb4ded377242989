#include "pods/documents/model/kept.hpp"
#include "pods/documents/radius/resource.hpp"

namespace ocirun::pods {
namespace {

/// The member `kind` of an extension: in an object of extensions, it repeats the name.
constexpr auto kind_is(std::string_view kind) {
  return part("kind", [kind](Value at, auto&) {
    std::string word;
    if (!string(at, word)) return false;
    if (word == kind) return true;
    at.problem("must be {}, not {}", kind, found(at));
    return false;
  });
}

bool manual_scaling(Value at, Pod& out) {
  struct ManualScaling {
    std::uint32_t replicas = 1;
  };
  static constexpr auto kManual = exact_fields<ManualScaling>(
      required("replicas", &ManualScaling::replicas, kInstances), kind_is("manualScaling"));
  ManualScaling scaling;
  if (!kManual(at, scaling)) return false;
  ask_for_replicas(*at.member("replicas"), scaling.replicas, out);
  return true;
}

/// Labels and annotations of the objects that Radius makes in a cluster.
bool kubernetes_metadata(Value at, Pod& out) {
  static constexpr auto kTable = exact_fields<Pod>(
      kind_is("kubernetesMetadata"), part("labels", keep_labels), part("annotations", keep_tags));
  return kTable(at, out);
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

/// Adds an object of strings to `out`. A name that `out` has is a problem: it is that of `others`.
bool keep_new_names(Value at, std::map<std::string, std::string>& out, std::string_view others) {
  std::map<std::string, std::string> read;
  if (!string_map(at, read)) return false;
  bool good = true;
  for (const Value member : at) {
    if (!out.contains(std::string(member.key()))) continue;
    member.problem("is the name of another {} too: give it once", others);
    good = false;
  }
  out.merge(read);
  return good;
}

}  // namespace

bool keep_tags(Value at, Pod& out) {
  return keep_new_names(at, out.metadata.annotations, "tag or annotation");
}

bool keep_labels(Value at, Pod& out) { return keep_new_names(at, out.metadata.labels, "label"); }

bool radius_extensions(Value at, Edition edition, Pod& out) {
  bool good = true;
  if (at.node().is_array()) {  // [{"kind": "manualScaling", "replicas": 2}]
    for (const Value item : at) {
      if (!item.expect_object()) {
        good = false;
        continue;
      }
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
