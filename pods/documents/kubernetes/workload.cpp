#include "pods/documents/kubernetes/workload.hpp"

#include <algorithm>
#include <array>

#include "pods/documents/kubernetes/pod_spec.hpp"
#include "pods/documents/model/kept.hpp"
#include "pods/documents/model/pod_fields.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kSetByCluster = "a cluster sets it";
constexpr std::string_view kOneInstance = "one machine runs one instance";

struct PodMetadata : Metadata {
  std::string name, name_space;
};

constexpr auto kNamespace =
    part_unless_empty<std::string>("namespace", [](Value at, PodMetadata& out) {
      at.warning("has no effect: there are no namespaces of a cluster");
      return dns_label(at, out.name_space);
    });

template <typename Name>
constexpr auto metadata_fields(Name name) {
  return exact_fields<PodMetadata>(name, field("labels", &PodMetadata::labels, string_map),
                                   field("annotations", &PodMetadata::annotations, string_map),
                                   kNamespace)
      .beside(&warn_of_cluster_name);
}
constexpr auto kObjectMetadata = metadata_fields(required("name", &PodMetadata::name, dns_name));
constexpr auto kTemplateMetadata =
    metadata_fields(no_effect("name", "the pod has the name of its workload"));

/// A row for a member that only a cluster honours: it has no effect here, and `pod export` copies
/// it. `is_usual` tells whether the value asks for what happens here anyway.
template <typename Usual>
constexpr auto of_controller(std::string_view key, std::string_view why, Usual is_usual) {
  return part(key, [=](Value at, Pod& out) {
    out.kubernetes->of_controller.push_back(&at.node());
    if (asks_for_nothing(at.node()))
      out.kubernetes->asking_nothing.insert(&at.node());
    else if (!is_usual(at.node()))
      at.warning("has no effect: {}", why);
    return true;
  });
}
constexpr auto of_controller(std::string_view key, std::string_view why) {
  return of_controller(key, why, [](const bundle::Node&) { return false; });
}

/// Whether the strategy is what happens here: `pod run --replace` stops the old pod before the new
/// one starts.
bool is_recreate(const bundle::Node& node) { return text_of_member(node, "type") == "Recreate"; }

bool replica_count(Value at, Pod& out) {
  std::uint32_t count = 1;
  if (!whole_number(0, 2'147'483'647)(at, count)) return false;
  ask_for_replicas(at, count, out);
  return true;
}

struct LabelSelector {
  std::map<std::string, std::string> labels;
};

/// The labels that the template of the pods must have.
bool label_selector(Value at, Pod& out) {
  static constexpr auto kTable =
      exact_fields<LabelSelector>(field("matchLabels", &LabelSelector::labels, string_map),
                                  part("matchExpressions", [](Value expressions, LabelSelector&) {
                                    if (asks_for_nothing(expressions.node())) return true;
                                    return refuse_always(expressions, "write matchLabels");
                                  }));
  LabelSelector selector;
  if (!kTable(at, selector)) return false;
  if (selector.labels.empty() && !at.report().has_unsupported_in(at.node())) {
    at.problem("must have matchLabels");
    return false;
  }
  out.kubernetes->selector = selector.labels;
  out.kubernetes->selector_place = &at.node();
  // The labels of metadata with a fault were not read. The fault is reported already.
  const bundle::Node* metadata = at.node().parent->find("template");
  if (metadata != nullptr && metadata->is_object()) metadata = metadata->find("metadata");
  if (metadata != nullptr && at.report().has_problem_below(bundle::pointer_to(*metadata)))
    return true;
  for (const auto& [name, value] : selector.labels) {
    const auto label = out.metadata.labels.find(name);
    if (label != out.metadata.labels.end() && label->second == value) continue;
    at.problem("the label {}: \"{}\" is not that of the template", name, value);
    return false;
  }
  return true;
}

/// The template's metadata are read before.
constexpr auto pod_template =
    exact_fields<Pod>(part("metadata", any_value), required_part("spec", kubernetes_pod));

template <typename... Rows>
constexpr auto controller_spec(Rows... rows) {
  return exact_fields<Pod>(
      part("replicas", replica_count), required_part("selector", label_selector),
      required_part("template", pod_template), of_controller("minReadySeconds", kOneInstance),
      of_controller("revisionHistoryLimit", "there are no earlier revisions"), rows...);
}

constexpr auto kDeploymentSpec = controller_spec(
    of_controller("strategy", kOneInstance, is_recreate),
    of_controller("progressDeadlineSeconds", "--wait-ready=SECONDS waits for the pod"),
    of_controller("paused", kOneInstance));

/// The volumes that each pod of a StatefulSet gets from its templates.
bool volume_templates(Value at, Pod& out) {
  struct Template {
    PodMetadata metadata;
    Volume volume;
  };
  static constexpr auto kTemplate = exact_fields<Template>(
      part("apiVersion", any_value), part("kind", any_value),
      required_part(
          "metadata",
          [](Value metadata, Template& read) { return kObjectMetadata(metadata, read.metadata); }),
      required_part("spec",
                    [](Value spec, Template& read) { return claim_spec(spec, read.volume); }),
      no_effect("status", kSetByCluster));
  if (!at.expect_list()) return false;
  out.kubernetes->of_controller.push_back(&at.node());
  bool good = true;
  for (const Value item : at) {
    Template read;
    good &= kTemplate(item, read);
    Volume& volume = out.volumes.emplace_back(std::move(read.volume));
    volume.name = read.metadata.name;
    volume.kind = Volume::Source::kOperator;
    volume.source = claim_of_template(read.metadata.name, out.kubernetes->name);
    volume.is_claimed = true;
    volume.place = &item.node();
    if (!volume.name.empty()) continue;
    item.problem_at("metadata", "must have a name");
    good = false;
  }
  return good;
}

constexpr auto kStatefulSetSpec = controller_spec(
    // The name of a Service has no effect of its own.
    of_controller("serviceName", "", [](const bundle::Node&) { return true; }),
    of_controller("podManagementPolicy", kOneInstance),
    of_controller("updateStrategy", kOneInstance), of_controller("ordinals", kOneInstance),
    of_controller("persistentVolumeClaimRetentionPolicy", "volumes stay until they are removed"),
    part("volumeClaimTemplates", any_value));  // volume_templates() reads them before the pod

/// The members of each document, whose metadata are read before.
template <typename Spec>
void read_object(Value at, Pod& out, std::string_view version, Spec spec) {
  if (const auto given = at.member("apiVersion"); given && given->node().text != version)
    given->problem("must be {}, not {}", version, found(*given));
  exact_fields<Pod>(required_part("apiVersion", any_value), part("kind", any_value),
                    required_part("metadata", any_value), required_part("spec", spec),
                    no_effect("status", kSetByCluster))(at, out);
}

/// Reads the metadata of the object and of the template of its pods.
void take_metadata(Value at, Pod& out) {
  KubernetesParts& parts = *out.kubernetes;
  PodMetadata own, of_pods;
  if (const auto metadata = at.member("metadata")) kObjectMetadata(*metadata, own);
  parts.name = out.name = own.name;
  if (parts.kind == "StatefulSet" && !own.name.empty()) out.name = first_pod_of(own.name);
  if (!own.name_space.empty()) parts.name_space = own.name_space;
  if (parts.kind == "Pod") {
    out.metadata = std::move(own);
    return;
  }
  out.controller_metadata = std::move(own);
  auto place = at.member("spec");
  for (const std::string_view member : {"template", "metadata"})
    if (place) place = place->member(member);
  if (place) kTemplateMetadata(*place, of_pods);
  out.metadata = std::move(of_pods);
}

constexpr std::array<std::string_view, 3> kKinds = {"Pod", "Deployment", "StatefulSet"};

}  // namespace

bool is_kubernetes_workload(const bundle::Node& root) {
  const std::string_view version = text_of_member(root, "apiVersion");
  const std::string_view kind = text_of_member(root, "kind");
  return (version == "v1" || version.starts_with("apps/")) &&
         std::ranges::find(kKinds, kind) != kKinds.end();
}

void read_kubernetes(Value at, Pod& out) {
  out.kind = Kind::kKubernetes;
  at.report().defer_unsupported();  // `pod export` copies unsupported parts
  KubernetesParts& parts = out.kubernetes.emplace();
  parts.kind = text_of_member(at.node(), "kind");
  parts.document = &at.node();
  take_metadata(at, out);
  const auto spec_of_set = parts.kind == "StatefulSet" ? at.member("spec") : std::nullopt;
  if (const auto templates =
          spec_of_set ? spec_of_set->member("volumeClaimTemplates") : spec_of_set)
    volume_templates(*templates, out);
  if (parts.kind == "Pod") return read_object(at, out, "v1", kubernetes_pod);
  if (parts.kind == "Deployment")
    read_object(at, out, "apps/v1", kDeploymentSpec);
  else
    read_object(at, out, "apps/v1", kStatefulSetSpec);
  if (out.restart == Restart::kAlways) return;
  const Value spec = *at.member("spec")->member("template")->member("spec");
  spec.problem_at("restartPolicy", "must be Always in a {}", parts.kind);
}

}  // namespace ocirun::pods
