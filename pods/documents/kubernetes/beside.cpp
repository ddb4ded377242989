// Reads the documents that a file of Kubernetes may have besides the workload: Services, claims,
// autoscalers, and others that have no effect.

#include <algorithm>
#include <array>

#include "pods/documents/kubernetes/pod_spec.hpp"
#include "pods/documents/kubernetes/workload.hpp"

namespace ocirun::pods {
namespace {

struct Beside {
  std::string name;
  Pod* pod = nullptr;
};

constexpr auto kBesideMetadata =
    exact_fields<Beside>(required("name", &Beside::name, dns_name), part("labels", any_value),
                         part("annotations", any_value),
                         no_effect("namespace", "there are no namespaces of a cluster"))
        .beside(&warn_of_cluster_name);

/// The members of a document. `rows`: the members other than apiVersion, kind, metadata and status.
template <typename... Rows>
constexpr auto document(Rows... rows) {
  return exact_fields<Beside>(required_part("apiVersion", any_value), part("kind", any_value),
                              required_part("metadata", kBesideMetadata), part("status", any_value),
                              rows...);
}

struct ScalingTargetRef {
  std::string version, kind, name;
};

/// The metrics and the behaviour are the cluster's: `pod export` copies them.
bool autoscaler(Value at, Beside& out) {
  struct Autoscaler {
    ScalingTargetRef target;
    std::uint32_t least = 1;
    Scaling scaling;
  };
  static constexpr auto kTarget =
      exact_fields<ScalingTargetRef>(field("apiVersion", &ScalingTargetRef::version, string),
                                     required("kind", &ScalingTargetRef::kind, nonempty_string),
                                     required("name", &ScalingTargetRef::name, nonempty_string));
  static constexpr auto kCount = whole_number(1, 2'147'483'647);
  static constexpr auto kTable = exact_fields<Autoscaler>(
      required("scaleTargetRef", &Autoscaler::target, kTarget),
      field("minReplicas", &Autoscaler::least, kCount),
      required_part(
          "maxReplicas",
          [](Value most, Autoscaler& read) { return kCount(most, read.scaling.most.emplace()); }),
      part("metrics", any_value), part("behavior", any_value),
      part("targetCPUUtilizationPercentage", any_value));
  Autoscaler read;
  if (!kTable(at, read)) return false;
  const Value target = *at.member("scaleTargetRef");
  if (read.target.name != out.pod->kubernetes->name ||
      read.target.kind != out.pod->kubernetes->kind) {
    target.warning("the autoscaler has no effect: it scales another workload");
    return true;
  }
  const Value most = *at.member("maxReplicas");
  if (*read.scaling.most < read.least) {
    most.problem("is {}, below minReplicas {}", *read.scaling.most, read.least);
    return false;
  }
  read.scaling.place = &most.node();
  out.pod->scaling = read.scaling;
  out.pod->elsewhere.push_back(
      {.sentence = "automatic scaling needs several machines: one machine runs 1 replica",
       .place = &most.node(),
       .name = "HorizontalPodAutoscaler"});  // maxReplicas cannot be left out alone: it is required
  return true;
}

constexpr auto kService = document(
    required_part("spec", [](Value at, Beside& out) { return read_service(at, *out.pod); }));
constexpr auto kClaimDocument = document(required_part(
    "spec", [](Value at, Beside& out) { return read_claim(at, out.name, *out.pod); }));
constexpr auto kAutoscaler = document(required_part("spec", autoscaler));
constexpr auto kRuntimeClass = document(required_part("handler", any_value),
                                        part("overhead", any_value), part("scheduling", any_value));
constexpr auto kServiceAccount =
    document(part("secrets", any_value), part("imagePullSecrets", any_value),
             part("automountServiceAccountToken", any_value));
constexpr auto kNamespaceDocument = document(part("spec", any_value));

void read_runtime_class(Value at, Beside& out) {
  if (kRuntimeClass(at, out)) at.warning("has no effect: --runtime chooses the runtime");
}
void read_service_account(Value at, Beside& out) {
  if (kServiceAccount(at, out))
    at.warning("has no effect: there is no cluster that the container could ask");
}
void read_namespace(Value at, Beside& out) {
  if (kNamespaceDocument(at, out))
    at.warning("has no effect: there are no namespaces of a cluster");
}

struct BesideKind {
  std::string_view version, kind;
  void (*read)(Value, Beside&);
};
constexpr std::array kBesideKinds{
    BesideKind{"v1", "Service", [](Value at, Beside& out) { kService(at, out); }},
    BesideKind{"v1", "PersistentVolumeClaim",
               [](Value at, Beside& out) { kClaimDocument(at, out); }},
    BesideKind{"autoscaling/v1", "HorizontalPodAutoscaler",
               [](Value at, Beside& out) { kAutoscaler(at, out); }},
    BesideKind{"autoscaling/v2", "HorizontalPodAutoscaler",
               [](Value at, Beside& out) { kAutoscaler(at, out); }},
    BesideKind{"node.k8s.io/v1", "RuntimeClass", read_runtime_class},
    BesideKind{"v1", "ServiceAccount", read_service_account},
    BesideKind{"v1", "Namespace", read_namespace},
};

const BesideKind* find_beside(const bundle::Node& root) {
  const auto* found = std::ranges::find_if(kBesideKinds, [&](const BesideKind& known) {
    return known.version == text_of_member(root, "apiVersion") &&
           known.kind == text_of_member(root, "kind");
  });
  return found == kBesideKinds.end() ? nullptr : found;
}

}  // namespace

bool stands_beside(const bundle::Node& root) { return find_beside(root) != nullptr; }

void read_document_beside(Value at, Pod& out) {
  Beside beside{.name = {}, .pod = &out};
  // The name comes first, wherever it stands in the document.
  if (const auto metadata = at.member("metadata"))
    beside.name = text_of_member(metadata->node(), "name");
  find_beside(at.node())->read(at, beside);
}

}  // namespace ocirun::pods
