#include "pods/prepare/bundle_workload.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bundle/config/config.hpp"
#include "bundle/json/value.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

using bundle::Node;
using bundle::Value;

constexpr std::uint16_t kDefaultPort = 8080;  // KN-1: the platform's

/// The value of the last element "PORT=…" of /process/env, which wins; nullptr if there is none.
const Node* find_port(const Node& process) {
  const Node* env = process.find("env");
  const Node* found = nullptr;
  if (env != nullptr && env->is_array())
    for (const Node* entry = env->first; entry != nullptr; entry = entry->next)
      if (entry->text.starts_with("PORT=")) found = entry;
  return found;
}

std::uint16_t read_port(const Node& process, const Given& given, bundle::Report& report) {
  const Node* entry = find_port(process);
  if (entry == nullptr) return given.port.value_or(kDefaultPort);
  const Value at(*entry, report);
  const auto port = linux::number<std::uint16_t>(entry->text.substr(entry->text.find('=') + 1));
  if (!port || *port == 0) {
    at.problem("PORT must be a number from 1 to 65535");
    return kDefaultPort;
  }
  if (given.port && *given.port != *port)
    at.problem("must be the port {} of --port, or be left out", *given.port);
  return *port;
}

void read_container(Value document, const Given& given, Container& out) {
  const auto process = document.member("process");
  if (!process) return document.problem_at("process", "is missing: a container runs a program");
  if (const Node* terminal = process->node().find("terminal"); terminal && terminal->boolean)
    process->problem_at(
        "terminal", "must be false: nobody is at the terminal of a container that serves requests");
  const Node* linux = document.node().find("linux");
  if (const Node* devices = linux == nullptr ? nullptr : linux->find("netDevices"))
    Value(*devices, document.report())
        .problem("must be left out: the network is the pod's, and stays when the container ends");
  Port& port = out.ports.emplace_back();
  port.number = read_port(process->node(), given, document.report());
  port.place = &process->node();
  out.readiness = Probe{.question = TcpProbe{.port = port.number, .port_name = {}},
                        .period = kPlatformPeriod,
                        .place = &process->node()};
}

}  // namespace

Result<Workload> read_bundle(const HostPath& bundle, const std::string& pod_name,
                             const Given& given, BundleRunner runner) {
  OCIRUN_TRY_ASSIGN(const std::string text, bundle::read_config_file(bundle));
  bundle::Parsed parsed = bundle::parse_config(text, bundle);
  Workload workload;
  workload.file = bundle.string() + "/config.json";
  workload.text = text;
  workload.warnings = parsed.warnings;
  OCIRUN_TRY(std::move(parsed).take());

  workload.source = std::make_unique<Source>();
  bundle::Report report;
  Pod& pod = workload.pod;
  pod.kind = Kind::kKnative;
  pod.name = pod_name;
  pod.knative =
      KnativeNames{.service = pod_name, .configuration = pod_name, .revision = pod_name + "-00001"};
  Container& container = pod.containers.emplace_back();
  container.name = "user-container";  // as in a Knative document that names no container
  container.bundle = BundleSource{.directory = bundle.string(),
                                  .keeps_user_namespace = runner == BundleRunner::kRoot};
  if (workload.source->parse(text, report)) {
    container.place = workload.source->root();
    read_container(Value(*workload.source->root(), report), given, container);
  }
  const std::vector<std::string> problems = workload.source->problems(workload.file, report);
  if (problems.empty()) return workload;
  return refuse("{}", fmt::join(problems, "; "));
}

std::optional<std::string> network_of_bundle(const Workload& workload) {
  const Node* list = workload.source->root()->find("linux");
  if (list != nullptr) list = list->find("namespaces");
  if (list == nullptr) return "";
  for (const Node* entry = list->first; entry != nullptr; entry = entry->next) {
    const Node* type = entry->find("type");
    if (type == nullptr || type->text != "network") continue;
    const Node* path = entry->find("path");
    if (path == nullptr || path->text.empty()) return std::nullopt;
    return std::string(path->text);
  }
  return "";
}

}  // namespace ocirun::pods
