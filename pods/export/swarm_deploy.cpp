#include <algorithm>
#include <cmath>

#include "linux/base/text.hpp"
#include "pods/export/swarm.hpp"

namespace ocirun::pods {
namespace {

/// "0.1": thousandths, the least that Swarm knows, rounded up.
std::string cpu_text(double cpus) {
  const std::uint64_t count = in_thousandths(cpus);
  std::string text = fmt::format("{}.{:03}", count / 1000, count % 1000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

constexpr std::uint64_t kLeastMemory = std::uint64_t{4} << 20;

YamlPart amount_texts(Translation& translation, const Amounts& amounts) {
  YamlPart out = translation.new_object();
  if (amounts.cpus) out.add("cpus", cpu_text(*amounts.cpus));
  if (amounts.memory && *amounts.memory >= kLeastMemory)
    out.add("memory", compose_bytes(*amounts.memory));
  return out;
}

void add_generic(Translation& translation, std::string_view kind, std::uint64_t count,
                 YamlPart& list) {
  YamlPart spec = list.add_object().add_object("discrete_resource_spec");
  spec.add("kind", kind);
  spec.add("value", count);
  translation.expect(fmt::format(
      "nodes that announce the generic resource \"{}\" (node-generic-resources in daemon.json)",
      kind));
}

/// Where the document says how much memory a container needs ("requests") or may have ("limits").
struct MemoryPlace {
  Place place;
  std::string member;
};

MemoryPlace memory_place(const Pod& pod, const Container& container, std::string_view object) {
  const Place place = container.resources.place;
  switch (pod.kind) {
    case Kind::kOam:
      return {place, "memory/required"};
    case Kind::kAppc:
      return {container.place, "app/isolators"};
    case Kind::kRadius:
      for (const std::string_view unit : {"memoryInMiB", "memoryInMib"})
        if (const bundle::Node* amounts = place == nullptr ? nullptr : place->find(object);
            amounts != nullptr && amounts->find(unit) != nullptr)
          return {place, fmt::format("{}/{}", object, unit)};
      break;
    case Kind::kKnative:
    case Kind::kKubernetes:
      break;
  }
  return {place, fmt::format("{}/memory", object)};
}

/// Devices are generic resources, which nodes announce by kind and number.
YamlPart generic_resources(Translation& translation, const Resources& resources) {
  YamlPart list = translation.new_object().new_list();
  if (resources.gpus > 0 && resources.gpus == std::floor(resources.gpus))
    add_generic(translation, "gpu", static_cast<std::uint64_t>(resources.gpus), list);
  else if (resources.gpus > 0)
    translation.lose(resources.place, "gpu", "must be a whole number of GPUs, not {}",
                     resources.gpus);
  for (const DeviceRequest& device : resources.devices)
    add_generic(translation, device.kind, device.count, list);
  for (const ExtendedResource& resource : resources.extended)
    if (const auto count = linux::number<std::uint32_t>(resource.required); count && *count != 0)
      add_generic(translation, resource.name, *count, list);
    else
      translation.lose(resource.place, "required",
                       "a generic resource must be a whole number above 0, not \"{}\"",
                       resource.required);
  return list;
}

/// Notes a loss for each amount of memory below 4 MiB, which Swarm refuses. The loss names the
/// place of the amount in the document: a request, a limit of the container, or a limit of the
/// whole pod. A limit that --enforce-required makes of a request has no place of its own.
void lose_small_memory(Translation& translation, const Container& container,
                       const ExportedAmounts& exported) {
  const Pod& pod = translation.pod();
  const auto lose = [&](const std::optional<std::uint64_t>& bytes, const MemoryPlace& at) {
    if (bytes && *bytes < kLeastMemory)
      translation.lose(at.place, at.member, "{} bytes of memory: must be at least 4 MiB", *bytes);
  };
  lose(exported.requests.memory, memory_place(pod, container, "requests"));
  const std::optional<std::uint64_t>& limit = exported.limits.memory;
  if (limit == container.resources.limits.memory)
    lose(limit, memory_place(pod, container, "limits"));
  else if (limit == pod.limits.memory)
    lose(limit, {pod.limits_place, ""});
}

YamlPart swarm_resources(Translation& translation, const Container& container) {
  const ExportedAmounts exported = exported_amounts(translation, container);
  const Place place = container.resources.place;
  if (exported.requests.storage)
    translation.lose(place, "requests/ephemeral-storage",
                     "Swarm keeps no space on the disk of a node, such as {}",
                     compose_bytes(*exported.requests.storage));
  YamlPart out = translation.new_object();
  lose_small_memory(translation, container, exported);
  out.add_unless_empty("limits", amount_texts(translation, exported.limits));
  YamlPart reserved = amount_texts(translation, exported.requests);
  reserved.add_unless_empty("generic_resources",
                            generic_resources(translation, container.resources));
  out.add_unless_empty("reservations", reserved);
  return out;
}

void lose_address(Translation& translation, const HostPort& host) {
  translation.lose(host.place, "hostIP",
                   "a port is open on all addresses of a node, not on {} alone", host.address);
}

/// Adds a port of the nodes that leads to `port`. `host`: the port of the host in the document;
/// nullptr: none.
void publish_port(SwarmStack& stack, const Port& port, const HostPort* host, YamlPart& list) {
  Translation& translation = stack.translation;
  const std::uint16_t number = host != nullptr     ? host->number
                               : port.service != 0 ? port.service
                                                   : port.number;
  const Place place = host != nullptr ? host->place : port.place;
  if (!stack.published.emplace(number, port.protocol).second)
    return translation.lose(place, "", "the port {} of the nodes leads to another port too",
                            number);
  if (host != nullptr && !host->address.empty()) lose_address(translation, *host);
  // A Service of Kubernetes opens its port on each node, as the mode ingress does.
  const bool is_of_host = (host != nullptr && !host->is_of_service) ||
                          translation.request().port_mode == PortMode::kHost;
  YamlPart entry = list.add_object();
  entry.add("target", port.number);
  entry.add("published", number);
  if (port.protocol != Protocol::kTcp) entry.add("protocol", lower_name_of(port.protocol));
  if (is_of_host) entry.add("mode", "host");
}

bool has_host_port(const YamlPart& service) {
  const bundle::Node* ports = service.node()->find("ports");
  if (ports == nullptr) return false;
  for (const bundle::Node* port = ports->first; port != nullptr; port = port->next)
    if (port->find("mode") != nullptr) return true;
  return false;
}

}  // namespace

YamlPart swarm_labels(Translation& translation, const Metadata& metadata) {
  constexpr std::string_view kReserved = "com.docker.";
  std::map<std::string, std::string> all = metadata.labels;
  for (const auto& [name, value] : metadata.annotations) {
    const auto [label, is_new] = all.emplace(name, value);
    if (!is_new && label->second != value)
      translation.lose_named(name,
                             "\"{}\" is a label, \"{}\", and an annotation, \"{}\": Swarm has "
                             "labels only",
                             name, label->second, value);
  }
  YamlPart out = translation.new_object();
  for (const auto& [name, value] : all)
    if (name.starts_with(kReserved))
      translation.lose_named(name, "the label \"{}\" is one of Docker's own", name);
    else
      out.add(name, value);
  return out;
}

YamlPart swarm_ports(SwarmStack& stack, const Container& container) {
  const std::vector<HostPort>& host_ports = stack.translation.pod().host_ports;
  YamlPart list = stack.translation.new_object().new_list();
  std::set<std::tuple<std::uint16_t, std::uint16_t, Protocol>> own;
  for (const Port& port : container.ports) {
    bool is_open = false;
    for (const HostPort& host : host_ports)
      if (leads_to(host, port)) {
        is_open = true;
        if (!is_entry_of(host, port, container)) continue;
        if (own.emplace(host.number, port.number, port.protocol).second)
          publish_port(stack, port, &host, list);
        else
          lose_address(stack.translation, host);
      }
    // As for `ocirun pod run`, ports of the host are the only ones that are open.
    if (!is_open && host_ports.empty()) publish_port(stack, port, nullptr, list);
  }
  if (&container != &stack.translation.pod().containers.front()) return list;
  for (const HostPort* host : unlisted_host_ports(stack.translation))
    publish_port(stack, *host->pod_port, host, list);
  return list;
}

YamlPart swarm_deploy(SwarmStack& stack, const Container& container, const YamlPart& service) {
  Translation& translation = stack.translation;
  const Pod& pod = translation.pod();
  YamlPart out = translation.new_object();
  if (pod.replicas && pod.replicas->count != 1) out.add("replicas", pod.replicas->count);
  if (translation.request().endpoint_mode == EndpointMode::kDnsrr)
    out.add("endpoint_mode", "dnsrr");
  bool is_kept_on_node = false, is_exclusive = false;
  for (const Volume& volume : exported_volumes(pod))
    if (volume.kind == Volume::Source::kOperator && uses_volume(container, volume.name)) {
      is_kept_on_node = true;
      is_exclusive = is_exclusive || volume.exclusive;
    }
  // Two tasks at a time need two free ports of nodes, and a volume that both may have.
  if (service.has("healthcheck") && !has_host_port(service) && !is_exclusive)
    out.add_object("update_config").add("order", "start-first");
  if (pod.restart != Restart::kAlways)
    out.add_object("restart_policy")
        .add("condition", pod.restart == Restart::kNever ? "none" : "on-failure");
  if (is_kept_on_node)
    out.add_object("placement")
        .add("constraints",
             std::vector<std::string>{fmt::format("node.labels.{} == true", stack.volume_label())});
  out.add_unless_empty("resources", swarm_resources(translation, container));
  const Metadata& of_service = pod.controller_metadata ? *pod.controller_metadata : pod.metadata;
  out.add_unless_empty("labels", swarm_labels(translation, of_service));
  return out;
}

}  // namespace ocirun::pods
