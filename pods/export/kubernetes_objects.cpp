#include "pods/export/kubernetes_objects.hpp"

#include <algorithm>
#include <set>

#include "bundle/json/writer.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kKeyRule =
    "must have the form [DOMAIN/]NAME with at most 63 letters, digits, \"-\", \"_\" and \".\" in "
    "NAME";

void add_map(std::string_view name, const std::map<std::string, std::string>& values,
             YamlPart& out) {
  YamlPart part = out.new_object();
  for (const auto& [key, value] : values) part.add(key, value);
  out.add_unless_empty(name, part);
}

/// The labels and annotations that Kubernetes accepts. Losses: the others.
Metadata accepted(Translation& translation, const Metadata& metadata) {
  Metadata out;
  for (const auto& [key, value] : metadata.labels)
    if (is_label_key(key) && is_label_value(value))
      out.labels[key] = value;
    else
      translation.lose_named(key, "the label \"{}\" {}, and its value at most 63 of these", key,
                             kKeyRule);
  for (const auto& [key, value] : metadata.annotations)
    if (is_label_key(key))
      out.annotations[key] = value;
    else
      translation.lose_named(key, "the annotation \"{}\" {}", key, kKeyRule);
  return out;
}

/// Selects the pods by a label of their own.
void add_instance(Translation& translation, ObjectNames& names) {
  const std::string key(kInstanceLabel);
  const std::string& name = translation.request().name;
  std::string& value = names.of_pods.labels[key];
  if (!value.empty() && value != name)
    translation.lose_named(key, "the label {} selects the pods, and must be \"{}\"", key, name);
  value = name;
  names.selector[key] = name;
}

/// Adds labels or annotations of a controller to those of the pod that takes its place.
void add_to_pod(Translation& translation, std::string_view what,
                const std::map<std::string, std::string>& of_controller,
                std::map<std::string, std::string>& of_pod) {
  for (const auto& [key, value] : of_controller) {
    const auto [own, is_new] = of_pod.emplace(key, value);
    if (!is_new && own->second != value)
      translation.lose_named(key, "the {} \"{}\" of a Pod is that of the template, \"{}\"", what,
                             key, own->second);
  }
}

/// A port of the Service. Several ports need names.
struct ServicePort {
  std::string name;
  std::uint16_t number = 0, target = 0;
  Protocol protocol = Protocol::kTcp;
};

/// The port of the Service in front of `port`. A Knative workload is asked at port 80.
std::uint16_t service_port(const Pod& pod, const Port& port) {
  constexpr std::uint16_t kKnativePort = 80;
  if (port.service != 0) return port.service;
  return pod.kind == Kind::kKnative ? kKnativePort : port.number;
}

std::vector<ServicePort> service_ports(const KubernetesPod& pod) {
  std::vector<ServicePort> ports;
  std::set<std::string> names;
  std::set<std::pair<std::uint16_t, Protocol>> numbers;
  const auto add = [&](const Port& port, std::string name) {
    const std::uint16_t number = service_port(pod.translation.pod(), port);
    const bool is_there = std::ranges::any_of(ports, [&](const ServicePort& other) {
      return other.number == number && other.target == port.number &&
             other.protocol == port.protocol;
    });
    if (is_there) return;  // the port of the host at another address, or of another container
    if (!numbers.emplace(number, port.protocol).second) {
      pod.translation.lose(port.place, port.service == 0 ? "containerPort" : "port",
                           "the port {} leads to another port of the pod too", number);
      return;
    }
    if (name.empty() || names.contains(name))
      name = fmt::format("{}-{}", lower_name_of(port.protocol), number);
    names.insert(name);
    ports.push_back(
        {.name = name, .number = number, .target = port.number, .protocol = port.protocol});
  };
  const Pod& source = pod.translation.pod();
  for (const Container& container : source.containers)
    for (const Port& port : container.ports) add(port, pod.port_names.at(&port));
  for (const HostPort& host : source.host_ports)
    if (host.pod_port && !numbers.contains({host.pod_port->number, host.pod_port->protocol}))
      add(*host.pod_port, is_port_name(host.name) ? host.name : "");
  return ports;
}

}  // namespace

ObjectNames object_names(KubernetesPod& pod) {
  Translation& translation = pod.translation;
  ObjectNames names{.kind = pod.kind == ExportedKind::kPod           ? "Pod"
                            : pod.kind == ExportedKind::kStatefulSet ? "StatefulSet"
                                                                     : "Deployment",
                    .own = {},
                    .of_pods = accepted(translation, exported_metadata(translation)),
                    .selector = {}};
  const Pod& source = translation.pod();
  if (source.kubernetes)
    names.selector =
        source.kubernetes->kind == "Pod" ? source.metadata.labels : source.kubernetes->selector;
  const bool is_template = source.kubernetes && source.kubernetes->selector_place != nullptr;
  const bool selects_itself = is_template || !names.selector.empty();
  if (!selects_itself) add_instance(translation, names);
  names.own = names.of_pods;
  if (!source.controller_metadata) return names;
  const Metadata of_controller = accepted(translation, *source.controller_metadata);
  if (pod.kind == ExportedKind::kPod) {
    add_to_pod(translation, "label", of_controller.labels, names.own.labels);
    add_to_pod(translation, "annotation", of_controller.annotations, names.own.annotations);
    return names;
  }
  names.own = of_controller;
  if (!selects_itself) names.own.labels.emplace(kInstanceLabel, translation.request().name);
  return names;
}

YamlPart kubernetes_object(const KubernetesPod& pod, const ObjectNames& names,
                           std::string_view version, std::string_view kind, std::string_view name) {
  YamlPart out = pod.translation.new_object();
  out.add("apiVersion", version);
  out.add("kind", kind);
  YamlPart metadata = out.add_object("metadata");
  metadata.add("name", name.empty() ? std::string_view(pod.translation.request().name) : name);
  add_map("labels", names.own.labels, metadata);
  if (kind == names.kind) add_map("annotations", names.own.annotations, metadata);
  return out;
}

void add_config_map(const KubernetesPod& pod, const ObjectNames& names) {
  if (pod.config_files.empty()) return;
  YamlPart out = kubernetes_object(pod, names, "v1", "ConfigMap", pod.config_map());
  YamlPart data = out.add_object("data");
  for (const auto& [key, content] : pod.config_files) data.add(key, content);
  for (const auto& [file, key] : pod.config_keys)
    if (!bundle::is_utf8(pod.config_files.at(key)))
      pod.translation.lose(file->place, "", "the content must be UTF-8");
  pod.translation.add_document(out);
}

void add_claims(const KubernetesPod& pod, const ObjectNames& names) {
  if (pod.kind == ExportedKind::kStatefulSet) return;  // they are templates
  for (const auto& [volume, claim] : pod.claims) {
    if (claim.spec.empty()) continue;
    YamlPart out = kubernetes_object(pod, names, "v1", "PersistentVolumeClaim", claim.name);
    out.add("spec", claim.spec);
    pod.translation.add_document(out);
  }
}

void add_service(const KubernetesPod& pod, const ObjectNames& names) {
  const std::vector<ServicePort> ports = service_ports(pod);
  const bool is_headless = pod.kind == ExportedKind::kStatefulSet;
  if (ports.empty() && !is_headless) return;
  YamlPart out = kubernetes_object(pod, names, "v1", "Service");
  YamlPart spec = out.add_object("spec");
  if (is_headless) spec.add("clusterIP", "None");
  spec.add_object("selector").add(kInstanceLabel, pod.translation.request().name);
  if (!ports.empty()) {
    YamlPart list = spec.add_list("ports");
    for (const ServicePort& port : ports) {
      YamlPart entry = list.add_object();
      entry.add("name", port.name);
      entry.add("port", port.number);
      entry.add("targetPort", port.target);
      if (port.protocol != Protocol::kTcp) entry.add("protocol", name_of(port.protocol));
    }
  }
  pod.translation.add_document(out);
}

}  // namespace ocirun::pods
