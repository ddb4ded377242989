#include "pods/prepare/plan/ports.hpp"

#include <array>

#include "bundle/json/writer.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/options.hpp"
#include "pods/cli/run.hpp"
#include "pods/cli/views.hpp"
#include "pods/prepare/bundle_workload.hpp"
#include "pods/prepare/complete.hpp"

namespace ocirun::pods::cli {
namespace {

using Net = NetworkChoice::Kind;

constexpr std::array kPortsOptions{
    kFormatOption,
    kDataOption,
};

/// A pod, with the network and the ports that its `run` was asked for.
struct PortsOfPod {
  PodView view;
  Completed completed;  // `ports` points into it
  NetworkChoice network;
  std::vector<PodPort> ports;
  int forwarder = 0;  // the pid of pasta; 0: pasta does not run
};

/// Reads the document of the request, or the bundle again. Sets `network` to that of the pod.
Result<Completed> completed_of(const RunRequest& request, const Arguments& arguments, bool ordinary,
                               NetworkChoice& network) {
  const std::string& file = arguments.operands().front();
  Given given;
  if (const auto port = arguments.value("port")) given.port = linux::number<std::uint16_t>(*port);
  Workload workload;
  if (arguments.has("profile")) {
    const bool is_absolute = file.starts_with('/');
    const HostPath bundle(is_absolute ? file : fmt::format("{}/{}", request.directory, file));
    OCIRUN_TRY_ASSIGN(workload,
                      read_bundle(bundle, "pod", given,
                                  ordinary ? BundleRunner::kOrdinaryUser : BundleRunner::kRoot));
  } else {
    OCIRUN_TRY_ASSIGN(const std::vector<std::string> ignored, read_ignored(arguments));
    workload = read_workload(shown_name(file), request.text, ignored);
    if (!workload.problems.empty()) return refuse("{}", workload.problems.front());
  }
  OCIRUN_TRY_ASSIGN(network, read_network(arguments, workload));
  OCIRUN_TRY_ASSIGN(const Publishing publishing, read_publishing(arguments, network));
  return complete(std::move(workload), std::move(given), {}, publishing, Audience::kRunning);
}

Result<PortsOfPod> ports_of_pod(const PodsDirectory& pods, PodView view, bool ordinary) {
  OCIRUN_TRY_ASSIGN(const RunRequest request, request_of_pod(pods, view.record.name));
  OCIRUN_TRY_ASSIGN(const Arguments arguments, bundle::cli::parse(kProgram, kRun, request.words));
  NetworkChoice network;
  OCIRUN_TRY_ASSIGN(Completed completed, completed_of(request, arguments, ordinary, network));
  PortsOfPod found{.view = std::move(view),
                   .completed = std::move(completed),
                   .network = std::move(network),
                   .ports = {},
                   .forwarder = 0};
  found.ports = ports_of(found.completed.pod());
  const PodRecord& record = found.view.record;
  if (still_runs(record, record.forwarder)) found.forwarder = record.forwarder.pid;
  return found;
}

bool has_ended(const PodView& view) {
  return !view.is_supervised && view.record.status != PodStatus::kStarting &&
         view.record.holder.pid == 0;
}

/// Whether and how the ports of the host lead to the pod.
std::string state_of(const PortsOfPod& pod) {
  const PodRecord& record = pod.view.record;
  if (pod.forwarder != 0)
    return fmt::format("pasta (process {}) forwards the ports", pod.forwarder);
  if (!pod.view.is_supervised)
    return has_ended(pod.view) ? "has ended, and no port leads to it"
                               : fmt::format("no port leads to it: {}", record.reason);
  switch (pod.network.kind) {
    case Net::kHost:
      return "has the host's network, where its programs open the ports themselves";
    case Net::kNone:
      return "has no network, and no port of the host leads to it";
    case Net::kPath:
      return fmt::format("has its ports in the network {}, and ocirun forwards none",
                         pod.network.path);
    case Net::kPod:
    case Net::kUnfiltered:
    case Net::kDefault:
      break;
  }
  return "pasta does not run: no port leads to the pod until its supervisor has started pasta "
         "again";
}

/// Where the port of the host is, "*:8080"; "-": no port of the host leads to the port of the pod.
/// On the host's network each port of the pod is one of the host.
std::string shown_host(const PortsOfPod& pod, const PodPort& port) {
  const bool is_of_host = pod.network.kind == Net::kHost;
  if (pod.network.kind == Net::kNone || pod.network.kind == Net::kPath) return "-";
  if (!port.is_open && !is_of_host) return "-";
  const Forward& forward = port.forward;
  const bool is_six = forward.address.contains(':');
  return fmt::format("{}:{}",
                     forward.address.empty() ? "*"
                     : is_six                ? fmt::format("[{}]", forward.address)
                                             : forward.address,
                     forward.host_port);
}

std::string text_of_ports(const PortsOfPod& pod) {
  const std::string& name = pod.view.record.name;
  if (pod.ports.empty())
    return fmt::format("{}: has no ports{}\n", name, has_ended(pod.view) ? ", and has ended" : "");
  std::string text = fmt::format("{}: {}\n", name, linux::in_one_line(state_of(pod)));
  std::vector<Row> rows{{"HOST", "PORT", "PROTOCOL", "CONTAINER", "NAME"}};
  for (const PodPort& port : pod.ports)
    rows.push_back({shown_host(pod, port), fmt::format("{}", port.forward.pod_port),
                    std::string(lower_name_of(port.forward.protocol)),
                    port.container == nullptr ? "-" : linux::in_one_line(port.container->name),
                    port.name.empty() ? "-" : linux::in_one_line(port.name)});
  return text + text_table(rows);
}

std::string_view word_of(const NetworkChoice& network) {
  switch (network.kind) {
    case Net::kHost:
      return "host";
    case Net::kNone:
      return "none";
    case Net::kPath:
      return network.path;
    case Net::kUnfiltered:
      return "unfiltered";
    case Net::kPod:
    case Net::kDefault:
      break;
  }
  return "pod";
}

void write_ports(bundle::JsonWriter& out, const PortsOfPod& pod) {
  const auto text_or_null = [&](std::string_view key, std::string_view text) {
    out.key(key);
    text.empty() ? out.null() : out.value(text);
  };
  out.begin_object().member("name", pod.view.record.name);
  out.member("status", shown_status(pod.view.record)).member("net", word_of(pod.network));
  out.key("forwarder");
  pod.forwarder == 0 ? out.null() : out.value(pod.forwarder);
  out.key("ports").begin_array();
  for (const PodPort& port : pod.ports) {
    const bool has_host = shown_host(pod, port) != "-";
    out.begin_object();
    text_or_null("hostAddress", port.forward.address);
    out.key("hostPort");
    has_host ? out.value(port.forward.host_port) : out.null();
    out.member("port", port.forward.pod_port)
        .member("protocol", lower_name_of(port.forward.protocol));
    text_or_null("container", port.container == nullptr ? "" : port.container->name);
    text_or_null("name", port.name);
    out.member("forwarded", pod.forwarder != 0 && port.is_open).end_object();
  }
  out.end_array().end_object();
}

Result<int> ports(const Arguments& arguments, const Caller& caller) {
  OCIRUN_TRY_ASSIGN(const bool json, wants_json(arguments));
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  OCIRUN_TRY_ASSIGN(ChosenPods chosen, view_pods(pods, arguments.operands()));
  std::vector<PortsOfPod> all;
  int status = 0;
  for (PodView& view : chosen.views) {
    const std::string name = view.record.name;
    auto found = ports_of_pod(pods, std::move(view), caller.is_ordinary);
    if (found) {
      all.push_back(*std::move(found));
      continue;
    }
    print_error(kPorts, Error(found.error()).within(name));
    status = 1;
  }
  if (json && !chosen.is_list && all.empty()) return status;
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kIndented);
  if (chosen.is_list) out.begin_array();
  std::string text;
  for (const PortsOfPod& pod : all)
    if (json)
      write_ports(out, pod);
    else
      text += text_of_ports(pod);
  if (chosen.is_list) out.end_array();
  if (json) text = std::move(out).take() + "\n";
  OCIRUN_TRY(print(text));
  return status;
}

}  // namespace

const Command kPorts{{"ports",
                      "[POD...]",
                      "tell which ports of the host lead to pods; of all pods without POD",
                      kPortsOptions,
                      {0, kAnyNumber},
                      {kPods}},
                     ports};

}  // namespace ocirun::pods::cli
