#include <algorithm>

#include "linux/base/text.hpp"
#include "pods/documents/key_documents.hpp"
#include "pods/documents/model/scalars.hpp"
#include "pods/export/kubernetes.hpp"

namespace ocirun::pods {
namespace {

/// A copy of a document in which the options change what they change for `run`.
class KnativeCopy {
 public:
  KnativeCopy(Translation& translation, const bundle::Node& node)
      : translation_(translation), given_(translation.given()), root_(translation.copy_of(node)) {}

  YamlPart change() {
    remove_members_of_cluster(root_);
    YamlPart metadata = root_.object_in("metadata");
    set(metadata, "name", translation_.request().name);
    YamlPart spec = root_.object_in("spec");
    YamlPart of_revision = metadata;
    if (spec.has("template")) {
      YamlPart revision = spec.object_in("template");
      if (!given_.labels.empty()) of_revision = revision.object_in("metadata");
      spec = revision.object_in("spec");
    }
    if (!given_.labels.empty()) {
      YamlPart annotations = of_revision.object_in("annotations");
      for (const auto& [name, value] : given_.labels) set(annotations, name, value);
    }
    if (const std::string& name = translation_.request().runtime_class; !name.empty())
      set(spec, "runtimeClassName", name);
    change_containers(spec, "initContainers", translation_.pod().init_containers);
    change_containers(spec, "containers", translation_.pod().containers);
    return root_;
  }

 private:
  template <typename Content>
  static void set(YamlPart& object, std::string_view name, const Content& content) {
    bundle::Editor::remove(object.node(), name);
    object.add(name, content);
  }

  void change_containers(YamlPart& spec, std::string_view list,
                         const std::vector<Container>& containers) {
    if (containers.empty()) return;
    YamlPart parts = spec.list_in(list);
    auto container = containers.begin();
    for (bundle::Node* node = parts.node()->first; node != nullptr && container != containers.end();
         node = node->next)
      change_container(parts.same_document(node), *container++);
  }

  void change_container(YamlPart part, const Container& container) {
    const auto& images = translation_.request().images;
    if (images.contains(container.image) || images.contains(container.name))
      set(part, "image", exported_image(translation_, container));
    const std::string policy = exported_pull_policy(translation_.request());
    if (!policy.empty()) set(part, "imagePullPolicy", policy);
    for (const auto& [name, value] : given_.variables) set_variable(part, name, value);
    set_security(part, container);
    if (given_.requests == Requests::kHard) set_limits(part);
    if (given_.port && !container.ports.empty()) set_port(part, container);
  }

  void set_variable(YamlPart& part, const std::string& name, const std::string& value) {
    YamlPart list = part.list_in("env");
    for (bundle::Node* node = list.node()->first; node != nullptr; node = node->next) {
      if (text_of_member(*node, "name") != name) continue;
      YamlPart entry = list.same_document(node);
      bundle::Editor::remove(node, "valueFrom");
      return set(entry, "value", std::string_view(without_references(value)));
    }
    YamlPart entry = list.new_object();  // in front, so that others can refer to it
    entry.add("name", name);
    entry.add("value", std::string_view(without_references(value)));
    entry.node()->parent = list.node();
    bundle::insert(list.node(), entry.node(), list.node()->first);
  }

  /// Writes the members of the security context that an option can set, with their values in
  /// `container`, to which the options were applied.
  void set_security(YamlPart& part, const Container& container) {
    const bool has_own_profile = container.seccomp.has_value();
    const bool changes = !given_.user.empty() || given_.forbid_root || given_.read_only_root ||
                         (translation_.request().seccomp && !has_own_profile);
    if (!changes) return;
    const YamlPart wanted = kubernetes_security(translation_, container);
    YamlPart context = part.object_in("securityContext");
    for (const std::string_view name :
         {"runAsUser", "runAsGroup", "runAsNonRoot", "readOnlyRootFilesystem", "seccompProfile"})
      if (const bundle::Node* member = wanted.node()->find(name))
        set(context, name, translation_.copy_of(*member));
  }

  void set_limits(YamlPart& part) {
    const bundle::Node* resources = part.node()->find("resources");
    const bundle::Node* requests = resources == nullptr ? nullptr : resources->find("requests");
    if (requests == nullptr) return;
    YamlPart limits = part.object_in("resources").object_in("limits");
    for (const bundle::Node* request = requests->first; request != nullptr; request = request->next)
      if (!limits.has(request->key)) set(limits, request->key, translation_.copy_of(*request));
  }

  void set_port(YamlPart& part, const Container& container) {
    YamlPart ports = part.list_in("ports");
    YamlPart port = ports.empty() ? ports.add_object() : ports.same_document(ports.node()->first);
    set(port, "containerPort", container.ports.front().number);
    set_probe_port(part, "livenessProbe", container.liveness);
    set_probe_port(part, "readinessProbe", container.readiness);
    set_probe_port(part, "startupProbe", container.startup);
  }

  /// A port that is a name stays the same.
  static void set_probe_port(YamlPart& part, std::string_view name,
                             const std::optional<Probe>& probe) {
    if (!probe || !part.has(name)) return;
    YamlPart read = part.object_in(name);
    const auto change = [&](std::string_view question, std::uint16_t number) {
      if (!read.has(question)) return;
      YamlPart asked = read.object_in(question);
      const bundle::Node* port = asked.node()->find("port");
      if (port != nullptr && !port->is_string()) set(asked, "port", number);
    };
    if (const auto* http = std::get_if<HttpProbe>(&probe->question)) change("httpGet", http->port);
    if (const auto* tcp = std::get_if<TcpProbe>(&probe->question)) change("tcpSocket", tcp->port);
  }

  Translation& translation_;
  const Given& given_;
  YamlPart root_;
};

/// The secrets, config maps and claims that the cluster must have.
void expect_sources(Translation& translation) {
  const Pod& pod = translation.pod();
  for (const std::string& name : used_secrets(pod))
    if (!name.starts_with(kConfigMapPrefix))
      translation.expect(fmt::format("the Secret \"{}\"", name));
    else if (!pod.key_documents.contains(name))
      translation.expect(fmt::format("the ConfigMap \"{}\"", name.substr(kConfigMapPrefix.size())));
  for (const Volume& volume : pod.volumes)
    if (volume.kind == Volume::Source::kOperator)
      translation.expect(fmt::format("the PersistentVolumeClaim \"{}\"", volume.source));
}

}  // namespace

Result<Exported> export_knative(const ExportRequest& request) {
  if (!request.sizes.empty()) return refuse("--size: the claims of a Knative workload must exist");
  Translation translation(request);
  if (request.completed.pod().restart != Restart::kAlways)
    translation.lose(nullptr, "",
                     "--restart: containers of a Knative workload are always restarted");
  expect_sources(translation);
  for (Place document : documents_to_copy(request.completed.workload())) {
    if (text_of_member(*document, "kind") == "Secret" && is_key_document(*document)) continue;
    if (is_key_document(*document))
      translation.add_document(translation.copy_of(*document));
    else
      translation.add_document(KnativeCopy(translation, *document).change());
  }
  return translation.finish();
}

}  // namespace ocirun::pods
