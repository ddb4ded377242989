#include "pods/export/kubernetes.hpp"

#include "pods/documents/model/scalars.hpp"
#include "pods/export/kubernetes_objects.hpp"

namespace ocirun::pods {
namespace {

/// The kind of a workload of Kubernetes.
ExportedKind own_kind(const KubernetesParts& parts) {
  if (parts.kind == "Pod") return ExportedKind::kPod;
  return parts.kind == "StatefulSet" ? ExportedKind::kStatefulSet : ExportedKind::kDeployment;
}

/// Chooses the kind. Without --kind, a workload of another format becomes a Deployment, or a Pod if
/// its containers are not always restarted.
ExportedKind choose_kind(Translation& translation) {
  const Pod& pod = translation.pod();
  const bool is_restarted = pod.restart == Restart::kAlways;
  std::optional<ExportedKind> wanted = translation.request().kind;
  if (!wanted && pod.kubernetes) wanted = own_kind(*pod.kubernetes);
  if (!wanted) {
    if (!is_restarted)
      translation.note(
          "the workload becomes a Pod, because its containers are not always restarted, and those "
          "of a Deployment are (--restart always)");
    return is_restarted ? ExportedKind::kDeployment : ExportedKind::kPod;
  }
  if (!is_restarted && *wanted != ExportedKind::kPod)
    translation.lose(nullptr, "",
                     "the containers are not always restarted, and those of a Deployment or "
                     "StatefulSet are: --kind Pod, or --restart always");
  return *wanted;
}

void add_metadata_of_pods(const ObjectNames& names, YamlPart& part) {
  YamlPart metadata = part.add_object("metadata");
  YamlPart labels = metadata.add_object("labels");
  for (const auto& [key, value] : names.of_pods.labels) labels.add(key, value);
  YamlPart annotations = metadata.new_object();
  for (const auto& [key, value] : names.of_pods.annotations) annotations.add(key, value);
  metadata.add_unless_empty("annotations", annotations);
}

/// Whether a volume is for one pod alone: the old pod must then end before the next one starts.
bool has_exclusive_claim(const KubernetesPod& pod) {
  for (const auto& [name, claim] : pod.claims)
    if (claim.exclusive) return true;
  return false;
}

void add_templates(const KubernetesPod& pod, YamlPart& spec) {
  YamlPart list = spec.new_list();
  for (const auto& [volume, claim] : pod.claims) {
    if (claim.spec.empty()) continue;
    YamlPart entry = list.add_object();
    entry.add_object("metadata").add("name", pod.volume_names.at(volume));
    entry.add("spec", claim.spec);
  }
  spec.add_unless_empty("volumeClaimTemplates", list);
}

constexpr std::string_view kClaimTemplates = "volumeClaimTemplates";

/// Copies what only a cluster honours of a Deployment or StatefulSet that keeps its kind.
/// `templates`: only the templates of claims, which stand last; else all but them.
void copy_members_of_controller(const KubernetesPod& pod, YamlPart& spec, bool templates) {
  const auto& parts = pod.translation.pod().kubernetes;
  if (!parts || own_kind(*parts) != pod.kind) return;
  for (const Place member : parts->of_controller)
    if ((member->key == kClaimTemplates) == templates)
      spec.add(member->key, pod.translation.copy_of(*member));
}

/// Loses the members that a workload of Kubernetes cannot keep when it becomes one of another kind.
void lose_members_of_controller(const KubernetesPod& pod) {
  const auto& parts = pod.translation.pod().kubernetes;
  if (!parts || own_kind(*parts) == pod.kind) return;
  for (const Place member : parts->of_controller)
    if (member->key != kClaimTemplates && member->key != "serviceName")
      pod.translation.lose(member, "", "belongs to a {} alone", parts->kind);
}

/// The Deployment, the StatefulSet or the Pod.
void add_workload(const KubernetesPod& pod, const ObjectNames& names) {
  Translation& translation = pod.translation;
  const Pod& source = translation.pod();
  const bool is_pod = pod.kind == ExportedKind::kPod;
  YamlPart out = kubernetes_object(pod, names, is_pod ? "v1" : "apps/v1", names.kind);
  const YamlPart template_spec = kubernetes_pod_spec(pod);
  if (is_pod) {
    out.add("spec", template_spec);
    if (source.replicas && source.replicas->count > 1)
      translation.lose(source.replicas->place, "",
                       "a Pod is one: --kind Deployment has {} replicas", source.replicas->count);
    return translation.add_document(out);
  }
  YamlPart spec = out.add_object("spec");
  if (source.replicas && (!source.scaling || source.kubernetes))
    spec.add("replicas", source.replicas->count);
  const bool is_set = pod.kind == ExportedKind::kStatefulSet;
  copy_members_of_controller(pod, spec, false);
  if (is_set && !spec.has("serviceName")) spec.add("serviceName", translation.request().name);
  if (!is_set && has_exclusive_claim(pod) && !spec.has("strategy"))
    spec.add_object("strategy").add("type", "Recreate");
  YamlPart selector = spec.add_object("selector").add_object("matchLabels");
  for (const auto& [key, value] : names.selector) selector.add(key, value);
  if (source.kubernetes && source.kubernetes->selector_place != nullptr) {
    YamlPart whole = spec.object_in("selector");
    translation.copy_parts(*source.kubernetes->selector_place, whole);
  }
  YamlPart of_pods = spec.add_object("template");
  add_metadata_of_pods(names, of_pods);
  of_pods.add("spec", template_spec);
  if (is_set) add_templates(pod, spec);
  copy_members_of_controller(pod, spec, true);
  translation.add_document(out);
}

/// The class of the runtime ocirun. Other classes belong to the cluster.
void add_runtime_class(Translation& translation) {
  constexpr std::string_view kOwn = "ocirun";
  const std::string& name = translation.request().runtime_class;
  if (name.empty()) return;
  if (name != kOwn) return translation.expect(fmt::format("the RuntimeClass \"{}\"", name));
  YamlPart out = translation.new_object();
  out.add("apiVersion", "node.k8s.io/v1");
  out.add("kind", "RuntimeClass");
  out.add_object("metadata").add("name", name);
  out.add("handler", kOwn);
  translation.add_document(out);
}

/// Checks the name of the pod, which is that of its Service and a part of the names of its other
/// objects.
Result<void> check_object_name(const std::string& name) {
  constexpr std::size_t kLongest = 52;  // a StatefulSet adds to the name for a label
  const bool begins_well = !name.empty() && name.front() >= 'a' && name.front() <= 'z';
  if (is_dns_label(name) && name.size() <= kLongest && begins_well) return {};
  const std::string near = as_dns_label(name).substr(0, kLongest);
  return refuse(
      "the name \"{}\": must be at most {} lower-case letters, digits and \"-\", with a letter "
      "first "
      "(--name {})",
      name, kLongest, near.empty() ? "POD" : near);
}

/// Copies a document beside a workload of Kubernetes. --runtime-class replaces a RuntimeClass. An
/// autoscaler follows the workload to its new kind and name.
void copy_beside(const KubernetesPod& pod, const ObjectNames& names, const bundle::Node& document) {
  Translation& translation = pod.translation;
  const bool is_class = text_of_member(document, "kind") == "RuntimeClass";
  if (is_class && !translation.request().runtime_class.empty()) return;
  const auto& scaling = translation.pod().scaling;
  Place root = scaling ? scaling->place : nullptr;
  while (root != nullptr && root != &document) root = root->parent;
  const bool is_own_scaler = root != nullptr;
  if (is_own_scaler && pod.kind == ExportedKind::kPod)
    return translation.lose(scaling->place, "", "a Pod does not scale: --kind Deployment does");
  YamlPart copy = translation.copy_of(document);
  remove_members_of_cluster(copy);
  const bool is_renamed = translation.request().name != workload_name(translation.pod()) ||
                          names.kind != translation.pod().kubernetes->kind;
  if (is_own_scaler && is_renamed) {
    YamlPart target = copy.object_in("spec").object_in("scaleTargetRef");
    for (const std::string_view member : {"apiVersion", "kind", "name"})
      bundle::Editor::remove(target.node(), member);
    target.add("apiVersion", "apps/v1");
    target.add("kind", names.kind);
    target.add("name", translation.request().name);
  }
  translation.add_document(copy);
}

/// Adds the documents of a file of Kubernetes in their order, without Secrets, whose content no
/// export has.
void add_documents(const KubernetesPod& pod, const ObjectNames& names) {
  Translation& translation = pod.translation;
  add_runtime_class(translation);
  for (const Place document : documents_to_copy(translation.request().completed.workload())) {
    if (document == translation.pod().kubernetes->document)
      add_workload(pod, names);
    else if (text_of_member(*document, "kind") != "Secret")
      copy_beside(pod, names, *document);
  }
}

/// The config maps of the file.
void add_own_config_maps(Translation& translation) {
  for (const auto& [name, document] : translation.pod().key_documents)
    if (name.starts_with(kConfigMapPrefix))
      translation.add_document(translation.copy_of(*document.place));
}

/// Loses what only Knative does for a workload.
void lose_knative_only(Translation& translation) {
  for (const Elsewhere& part : translation.pod().elsewhere)
    translation.lose(
        part.place, "",
        "Knative does this, and nothing else on a cluster: without --kind the document "
        "stays a Knative one");
}

}  // namespace

Result<Exported> export_to_kubernetes(const ExportRequest& request) {
  OCIRUN_TRY(check_object_name(request.name));
  const bool is_knative = request.completed.pod().kind == Kind::kKnative;
  if (is_knative && !request.kind) return export_knative(request);
  Translation translation(request);
  if (is_knative) lose_knative_only(translation);
  lose_other_replicas(translation);
  KubernetesPod pod{.translation = translation, .kind = choose_kind(translation)};
  plan_port_names(pod);
  plan_volumes(pod);
  plan_config_files(pod);
  const ObjectNames names = object_names(pod);
  lose_members_of_controller(pod);
  if (translation.pod().kubernetes) {
    add_documents(pod, names);
    translation.lose_parts_without_copy();
    return translation.finish();
  }
  add_runtime_class(translation);
  add_own_config_maps(translation);
  add_config_map(pod, names);
  add_claims(pod, names);
  add_service(pod, names);
  add_workload(pod, names);
  add_autoscaler(pod, names);
  return translation.finish();
}

}  // namespace ocirun::pods
