#include "pods/prepare/contract/clauses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <vector>

#include "bundle/config/annotations.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

/// The last value of a variable of the program; nothing if the variable is not set.
std::optional<std::string> variable(const ContractSubject& subject, std::string_view name) {
  std::optional<std::string> value;
  if (!subject.config.process) return value;
  for (const std::string_view entry : subject.config.process->env)
    if (entry.substr(0, entry.find('=')) == name) value = entry.substr(name.size() + 1);
  return value;
}

Judgement judge_port(const ContractSubject& subject) {
  const auto port = variable(subject, "PORT");
  if (!port) return not_met("PORT is not set");
  const auto number = linux::number<std::uint16_t>(*port);
  if (number && *number != 0) return met(fmt::format("PORT is {}", *port));
  return not_met("PORT is no number from 1 to 65535");
}

Judgement judge_names(const ContractSubject& subject) {
  std::vector<std::string_view> missing;
  for (const std::string_view name : {"K_REVISION", "K_CONFIGURATION", "K_SERVICE"})
    if (!variable(subject, name)) missing.push_back(name);
  if (missing.empty()) return met("all three are set");
  return not_met(fmt::format("{} not set", fmt::join(missing, ", ")));
}

Judgement judge_exposed_ports(const ContractSubject& subject) {
  const auto ports = bundle::image_annotation(subject.config.annotations, bundle::kExposedPorts);
  if (!ports) return not_applicable("the bundle names no exposed ports");
  const std::size_t count = linux::words(*ports, ',').size();
  if (count <= 1) return met(fmt::format("the image exposes {}", *ports));
  return not_met(fmt::format("the image exposes {} ports: {}", count, *ports));
}

Judgement judge_terminal(const ContractSubject& subject) {
  if (subject.config.process && subject.config.process->terminal)
    return not_met("process.terminal is true");
  return met("process.terminal is false");
}

Judgement judge_stdin(const ContractSubject& subject) {
  if (subject.config.process && subject.config.process->terminal)
    return not_met("a terminal is the standard input");
  return not_applicable("the caller of the runtime gives the standard input");
}

Judgement judge_stop_signal(const ContractSubject& subject) {
  const auto& annotations = subject.config.annotations;
  if (bundle::stop_signal(annotations).value_or(SIGTERM) == SIGTERM)
    return met("`ocirun kill` sends SIGTERM");
  return not_met(fmt::format("the image asks for {}",
                             *bundle::image_annotation(annotations, bundle::kStopSignal)));
}

Judgement judge_user(const ContractSubject& subject) {
  if (!subject.config.process) return not_applicable("the bundle has no process");
  return met(fmt::format("the program runs as user {}", subject.config.process->user.uid.value()));
}

Judgement judge_pid(const ContractSubject& subject) {
  const auto* own = subject.config.namespaces.find(linux::NamespaceKind::kPid);
  return met(own != nullptr ? "the program has a pid namespace"
                            : "the program has a pid of the host");
}

// Clauses that a bundle alone cannot decide.
Judgement by_a_running_container(const ContractSubject&) {
  return not_applicable("only a running container tells");
}
Judgement by_the_supervisor(const ContractSubject&) {
  return not_applicable("whoever supervises the container does this");
}
Judgement by_the_network(const ContractSubject&) {
  return not_applicable("what stands in front of the container does this");
}
Judgement by_the_operator(const ContractSubject&) {
  return not_applicable("a bundle does not tell who wrote which part");
}
Judgement by_the_runtime(const ContractSubject&) {
  return met("the runtime follows the OCI specification");
}

constexpr std::array kClauses{
    Clause{"KN-26", Level::kShould, "the container starts within a second", by_a_running_container},
    Clause{"KN-22", Level::kMay, "the program may be the first process of a pid namespace",
           judge_pid},
    Clause{"KN-13", Level::kMust, "SIGTERM ends the container, after a grace period SIGKILL",
           judge_stop_signal},
    Clause{"KN-14", Level::kMay, "an inactive container may be ended", by_the_network},
    Clause{"KN-21", Level::kShould, "the space of failed containers is limited", by_the_supervisor},
    Clause{"KN-20", Level::kShould, "the program has no access to the OCI interface",
           judge_runtime_access},
    Clause{"KN-10", Level::kShould, "reading standard input gives the end of file", judge_stdin},
    Clause{"KN-11", Level::kMust,
           "output and failures are collected where the developer can see them", by_the_supervisor},
    Clause{"KN-4", Level::kMust, "the container accepts HTTP/1.1 requests", by_a_running_container},
    Clause{"KN-3", Level::kMust, "one inbound port", judge_exposed_ports},
    Clause{"KN-5", Level::kMust, "probes are httpGet or tcpSocket on the inbound port",
           by_the_supervisor},
    Clause{"KN-6", Level::kShould, "a first container shows that the revision becomes ready",
           by_the_supervisor},
    Clause{"KN-23", Level::kMust, "headers, HTTPS, tracing and names of services", by_the_network},
    Clause{"KN-17", Level::kMay, "the root filesystem may be read-only", judge_read_only_root},
    Clause{"KN-24", Level::kMust, "config maps and secrets are read-only", by_the_operator},
    Clause{"KN-12", Level::kShould, "process.terminal is not true", judge_terminal},
    Clause{"KN-1", Level::kMust, "PORT is set", judge_port},
    Clause{"KN-2", Level::kShould, "K_REVISION, K_CONFIGURATION and K_SERVICE are set",
           judge_names},
    Clause{"KN-16", Level::kMust, "the program runs as the user that was asked for", judge_user},
    Clause{"KN-7", Level::kMust, "/tmp can be written to", judge_tmp},
    Clause{"KN-8", Level::kMust, "/var/log is a directory that can be written to", judge_var_log},
    Clause{"KN-9", Level::kShould, "/etc/resolv.conf is set", judge_resolv_conf},
    Clause{"KN-15", Level::kMust,
           "the developer sets no namespaces, devices, cgroups, sysctls, propagation, masked and "
           "read-only paths, hooks",
           by_the_operator},
    Clause{"KN-18", Level::kShould, "the cgroup filesystem is mounted read-only",
           judge_cgroup_mount},
    Clause{"KN-19", Level::kShould,
           "limits are visible in /sys/fs/cgroup/memory/memory.limit_in_bytes and cpu/cpu.cfs_*",
           judge_visible_limits},
    Clause{"KN-25", Level::kMust, "annotations, links in /dev and warnings are those of OCI",
           by_the_runtime},
};

constexpr linux::Named<Level> kLevels[] = {
    {"MUST", Level::kMust}, {"SHOULD", Level::kShould}, {"MAY", Level::kMay}};
constexpr linux::Named<Verdict> kVerdicts[] = {{"met", Verdict::kMet},
                                               {"not met", Verdict::kNotMet},
                                               {"not applicable", Verdict::kNotApplicable}};

}  // namespace

std::span<const Clause> contract_clauses() { return kClauses; }

std::string_view name_of(Level level) { return linux::name_of(kLevels, level); }
std::string_view name_of(Verdict verdict) { return linux::name_of(kVerdicts, verdict); }

}  // namespace ocirun::pods
