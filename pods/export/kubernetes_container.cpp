#include <algorithm>
#include <cmath>

#include "pods/documents/model/scalars.hpp"
#include "pods/export/kubernetes.hpp"
#include "pods/prepare/plan/variables.hpp"

namespace ocirun::pods {
namespace {

/// The words of a command line. In a document of a kind that knows no references to variables,
/// "$(NAME)" stays as it is.
std::vector<std::string> words_of(const Pod& pod, const std::vector<std::string>& words) {
  std::vector<std::string> out = words;
  if (!has_references(pod))
    for (std::string& word : out) word = without_references(word);
  return out;
}

void add_amounts(const Amounts& amounts, YamlPart& out) {
  if (amounts.cpus) out.add("cpu", cpu_quantity(*amounts.cpus));
  if (amounts.memory) out.add("memory", byte_quantity(*amounts.memory));
}

/// Kubernetes makes shares of a request: thousandths * 1024 / 1000.
void add_shares(Translation& translation, const Container& container, Amounts& requests) {
  if (!container.security.cpu_shares) return;
  const unsigned shares = *container.security.cpu_shares;
  const auto thousandths = static_cast<unsigned>(std::ceil(shares * 1000.0 / 1024));
  if (!requests.cpus && thousandths * 1024 / 1000 == shares)
    requests.cpus = thousandths / 1000.0;
  else
    translation.lose(container.place, "app/isolators",
                     "os/linux/cpu-shares {} is no share that a request of CPUs gives", shares);
}

/// An extended resource is a count that the machine's device plugins announce.
void add_extended(Translation& translation, const Resources& resources, YamlPart& limits) {
  for (const ExtendedResource& resource : resources.extended) {
    const bool is_count = !resource.required.empty() &&
                          resource.required.find_first_not_of("0123456789") == std::string::npos;
    if (is_count && is_label_key(resource.name))
      limits.add(resource.name, resource.required);
    else
      translation.lose(resource.place, "required",
                       "an extended resource must be a whole number of devices, not \"{}\"",
                       resource.required);
  }
  for (const DeviceRequest& device : resources.devices)
    limits.add(device.kind, fmt::format("{}", device.count));
  if (resources.gpus > 0)
    translation.lose(resources.place, "gpu",
                     "GPUs have the name of a vendor, such as nvidia.com/gpu, which the document "
                     "does not say");
}

YamlPart resources(const KubernetesPod& pod, const Container& container) {
  Translation& translation = pod.translation;
  auto [requests, limits] = exported_amounts(translation, container);
  add_shares(translation, container, requests);
  YamlPart out = translation.new_object();
  YamlPart asked = out.new_object(), most = out.new_object();
  add_amounts(requests, asked);
  if (requests.storage) asked.add("ephemeral-storage", byte_quantity(*requests.storage));
  if (const auto found = pod.ephemeral_bytes.find(&container); found != pod.ephemeral_bytes.end())
    asked.add("ephemeral-storage", byte_quantity(found->second));
  add_amounts(limits, most);
  add_extended(translation, container.resources, most);
  out.add_unless_empty("requests", asked);
  out.add_unless_empty("limits", most);
  return out;
}

void add_question(const Probe& probe, YamlPart& out) {
  if (const auto* exec = std::get_if<ExecProbe>(&probe.question)) {
    if (exec->command.empty()) return;  // a probe by gRPC: copy_parts() copies it
    out.add_object("exec").add("command", exec->command);
  } else if (const auto* http = std::get_if<HttpProbe>(&probe.question)) {
    YamlPart get = out.add_object("httpGet");
    get.add("path", http->path);
    get.add("port", http->port);
    if (http->tls) get.add("scheme", "HTTPS");
    if (http->headers.empty()) return;
    YamlPart headers = get.add_list("httpHeaders");
    for (const HttpHeader& header : http->headers) {
      YamlPart entry = headers.add_object();
      entry.add("name", header.name);
      entry.add("value", header.value);
    }
  } else if (const auto* tcp = std::get_if<TcpProbe>(&probe.question)) {
    out.add_object("tcpSocket").add("port", tcp->port);
  }
}

/// `ends`: a failure ends the container, so that successes in a row have no meaning.
void add_probe(Translation& translation, std::string_view name, const std::optional<Probe>& probe,
               bool ends, YamlPart& container) {
  if (!probe) return;
  YamlPart out = container.add_object(name);
  add_question(*probe, out);
  const auto add_seconds = [&](std::string_view member, std::chrono::seconds time,
                               std::chrono::seconds usual) {
    if (time != usual) out.add(member, static_cast<std::uint64_t>(time.count()));
  };
  const Probe usual;
  add_seconds("initialDelaySeconds", probe->initial_delay, usual.initial_delay);
  add_seconds("periodSeconds", probe->period, usual.period);
  add_seconds("timeoutSeconds", probe->timeout, usual.timeout);
  if (ends && probe->success_threshold != 1)
    translation.lose(probe->place, "successThreshold",
                     "must be 1 for a probe whose failure ends the container, not {}",
                     probe->success_threshold);
  else if (probe->success_threshold != usual.success_threshold)
    out.add("successThreshold", probe->success_threshold);
  if (probe->failure_threshold != usual.failure_threshold)
    out.add("failureThreshold", probe->failure_threshold);
  if (probe->grace && ends)
    out.add("terminationGracePeriodSeconds", static_cast<std::uint64_t>(probe->grace->count()));
}

void add_port(std::string_view name, const Port& port, const HostPort* host, YamlPart& list) {
  YamlPart entry = list.add_object();
  entry.add_unless_empty("name", name);
  entry.add("containerPort", port.number);
  if (port.protocol != Protocol::kTcp) entry.add("protocol", name_of(port.protocol));
  if (host == nullptr) return;
  entry.add("hostPort", host->number);
  entry.add_unless_empty("hostIP", host->address);
}

YamlPart ports(const KubernetesPod& pod, const Container& container) {
  Translation& translation = pod.translation;
  std::vector<HostPort> host_ports = translation.pod().host_ports;
  std::erase_if(host_ports, &HostPort::is_of_service);  // the Service is copied
  YamlPart list = translation.new_object().new_list();
  for (const Port& port : container.ports) {
    std::string_view name = pod.port_names.at(&port);
    for (const HostPort& host : host_ports)
      if (leads_to(host, port) && is_entry_of(host, port, container))
        add_port(std::exchange(name, ""), port, &host, list);
    const bool is_open =
        std::ranges::any_of(host_ports, [&](const HostPort& host) { return leads_to(host, port); });
    if (!is_open) add_port(name, port, nullptr, list);
  }
  if (&container != &translation.pod().containers.front()) return list;
  // The apps share their network: it does not matter which of them has the other ports.
  for (const HostPort* host : unlisted_host_ports(translation))
    if (!host->is_of_service) add_port("", *host->pod_port, host, list);
  return list;
}

std::string container_name(Translation& translation, const Container& container) {
  if (is_dns_label(container.name)) return container.name;
  translation.lose(container.place, "name",
                   "the name of a container must be at most 63 lower-case letters, digits and "
                   "\"-\", not \"{}\"",
                   container.name);
  return as_dns_label(container.name);
}

}  // namespace

void add_kubernetes_container(const KubernetesPod& pod, const Container& container, YamlPart& out) {
  Translation& translation = pod.translation;
  YamlPart entry = out.add_object();
  entry.add("name", container_name(translation, container));
  entry.add("image", exported_image(translation, container));
  entry.add_unless_empty("imagePullPolicy",
                         exported_pull_policy(translation.request(), container.pull_policy));
  if (container.command) entry.add("command", words_of(translation.pod(), *container.command));
  if (container.args) entry.add("args", words_of(translation.pod(), *container.args));
  entry.add_unless_empty("workingDir", container.working_directory);
  entry.add_unless_empty("envFrom", kubernetes_variable_sources(translation, container));
  entry.add_unless_empty("env", kubernetes_variables(translation, container));
  entry.add_unless_empty("ports", ports(pod, container));
  entry.add_unless_empty("resources", resources(pod, container));
  entry.add_unless_empty("volumeMounts", kubernetes_mounts(pod, container));
  add_probe(translation, "livenessProbe", container.liveness, true, entry);
  add_probe(translation, "readinessProbe", container.readiness, false, entry);
  add_probe(translation, "startupProbe", container.startup, true, entry);
  entry.add_unless_empty("securityContext", kubernetes_security(translation, container));
  if (container.place != nullptr) translation.copy_parts(*container.place, entry);
}

}  // namespace ocirun::pods
