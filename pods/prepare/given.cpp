#include "pods/prepare/given.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/process/exec_limits.hpp"
#include "pods/documents/key_documents.hpp"
#include "pods/documents/needs.hpp"
#include "pods/prepare/kept_volumes.hpp"
#include "pods/prepare/plan/expansion.hpp"

namespace ocirun::pods {
namespace {

/// The names that each option may have for a pod.
struct Names {
  std::set<std::string> volumes, parameters, secrets, images, extended, pull_secrets;
};

Names names_for(const Pod& pod) {
  Names names;
  for (const Volume& volume : pod.volumes) {
    names.volumes.insert(volume.name);
    if (volume.is_claimed) names.volumes.insert(volume.source);
  }
  for (const Container* container : all_containers(pod)) {
    names.images.insert({container->image, container->image_name, container->name});
    for (const MountPoint& point : container->mount_points) names.volumes.insert(point.name);
  }
  for (const Need& need : needs_of(pod)) {
    const auto add = [&](std::set<std::string>& to) {
      to.insert(need.names.begin(), need.names.end());
    };
    if (need.gift == Gift::kVolume) add(names.volumes);
    if (need.gift == Gift::kParameter) add(names.parameters);
    if (need.gift == Gift::kExtended) add(names.extended);
    if (need.gift == Gift::kPullSecret) add(names.pull_secrets);
  }
  for (const std::string& name : used_secrets(pod)) names.secrets.insert(name);
  return names;
}

/// The parameters --param NAME.PROPERTY that belong to a connection of the document.
std::set<std::string> parameters_of_connections(const Given& given, const Pod& pod) {
  std::set<std::string> found;
  const auto& all = given.bindings.parameters;
  for (const Connection& connection : pod.connections) {
    const std::string prefix = connection.name + ".";
    if (connection.sets_variables)
      for (auto at = all.lower_bound(prefix); at != all.end() && at->first.starts_with(prefix);
           ++at)
        found.insert(at->first);
  }
  return found;
}

bool has_container(const Pod& pod, const std::string& name) {
  return std::ranges::any_of(all_containers(pod),
                             [&](const Container* container) { return container->name == name; });
}

template <typename Value>
void find_unused(std::string_view option, const std::map<std::string, Value>& given,
                 const std::set<std::string>& known, std::vector<std::string>& out) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const auto& [name, value] : given) {
    if (known.contains(name) || out.size() >= bundle::Report::kMaxListed) continue;
    const std::string_view near = bundle::nearest(name, names);
    out.push_back(
        near.empty() ? fmt::format("{} {}: the document names none of this name", option, name)
                     : fmt::format("{} {}: the document names none of this name (did you mean {}?)",
                                   option, name, near));
  }
}

/// Whether the host has devices of the kind. Returns true if the directories cannot be read:
/// prepare_devices() reports that error.
bool may_have_devices(const DeviceDirectories& directories, const std::string& kind) {
  const auto registry = DeviceRegistry::read(directories);
  return !registry || registry->has_kind(kind);
}

/// Whether the operator has given what `need` asks for.
bool is_met(const Given& given, const Need& need) {
  if (need.is_optional) return true;
  const auto any = [&](const auto& options) {
    return std::ranges::any_of(need.names,
                               [&](const std::string& name) { return options.contains(name); });
  };
  switch (need.gift) {
    case Gift::kSecret:
      return any(given.bindings.secrets);
    case Gift::kParameter:
      return any(given.bindings.parameters);
    case Gift::kVolume:
      return any(given.volumes);
    case Gift::kExtended:
      return any(given.extended) ||
             (need.may_be_devices && may_have_devices(given.cdi, need.names.front()));
    case Gift::kDevices:  // prepare_devices() tells which are missing
      return true;
    case Gift::kPullSecret:
      return any(given.pulling.auth_files);
    case Gift::kImage:
      return any(given.images);
    case Gift::kConnection: {
      const std::string prefix = need.names.front() + ".";
      const auto first = given.bindings.parameters.lower_bound(prefix);
      return first != given.bindings.parameters.end() && first->first.starts_with(prefix);
    }
    case Gift::kNone:
      return false;
  }
  return false;
}

/// Whether the operator must give `need` also for an export: the value of a parameter or
/// connection, or a secret whose document lacks a key.
bool is_of_all_engines(const Need& need) {
  return need.gift == Gift::kParameter || need.gift == Gift::kConnection ||
         (need.gift == Gift::kSecret && need.is_fault);
}

/// Sets each variable in its place in the document, else before all others, so that others can
/// refer to it.
void set_given_variables(Container& container, const Given& given) {
  std::map<std::string_view, const std::string*> values;
  for (const auto& [name, value] : given.variables) values.emplace(name, &value);
  const auto variable_of = [](std::string_view name, const std::string& value) {
    return EnvVariable{
        .name = std::string(name), .value = value, .place = nullptr, .is_literal = true};
  };
  std::set<std::string> set;
  for (EnvVariable& variable : container.env) {
    const auto value = values.find(variable.name);
    if (value == values.end()) continue;
    variable = variable_of(value->first, *value->second);
    set.insert(variable.name);
  }
  std::vector<EnvVariable> before;
  for (const auto& [name, value] : given.variables)
    if (!set.contains(name)) before.push_back(variable_of(name, value));
  container.env.insert(container.env.begin(), std::make_move_iterator(before.begin()),
                       std::make_move_iterator(before.end()));
}

/// Limits the variables and labels of the command line, because each container gets a copy. No
/// program can be started with more variables than execve(2) takes.
Result<void> check_copies(const Given& given, std::size_t containers) {
  const linux::ExecLimits limits = linux::ExecLimits::here();
  std::size_t variables = 0, labels = 0;
  for (const auto& [name, value] : given.variables) {
    if (name.size() + 1 + value.size() > limits.string)
      return refuse(
          "the variable {} of --env or --env-file has more than {} bytes: execve(2) takes "
          "no longer one",
          linux::in_one_line(name.substr(0, 40)), limits.string);
    variables += linux::ExecLimits::cost(name.size() + 1 + value.size());
  }
  if (variables > limits.all)
    return refuse(
        "the variables of --env and --env-file take {} bytes: execve(2) takes {}, a quarter of the "
        "limit on the stack (ulimit -s), and at most 6 MiB",
        variables, limits.all);
  for (const auto& [name, value] : given.labels) labels += name.size() + value.size();
  if ((variables + labels) * containers <= kMostCopied) return {};
  return refuse(
      "--env, --env-file and --label: {} bytes for each of {} containers are more than "
      "{} MiB",
      variables + labels, containers, kMostCopied >> 20);
}

/// The port on which the platform reaches a Knative container is also that of its probes (KN-5).
void move_port(Container& container, std::uint16_t port) {
  if (container.ports.empty()) return;
  const std::uint16_t old = std::exchange(container.ports.front().number, port);
  for (auto* probe : {&container.liveness, &container.readiness, &container.startup}) {
    if (!*probe) continue;
    if (auto* http = std::get_if<HttpProbe>(&(*probe)->question); http && http->port == old)
      http->port = port;
    if (auto* tcp = std::get_if<TcpProbe>(&(*probe)->question); tcp && tcp->port == old)
      tcp->port = port;
  }
}

}  // namespace

Result<void> replace_parts(const Given& given, Pod& pod) {
  if (given.restart) pod.restart = *given.restart;
  if (given.port && pod.kind != Kind::kKnative)
    return refuse("--port: only a Knative document has a port that the platform chooses");
  OCIRUN_TRY(check_copies(given, pod.init_containers.size() + pod.containers.size()));
  for (std::vector<Container>* containers : {&pod.init_containers, &pod.containers})
    for (Container& container : *containers) {
      if (!given.user.empty()) {
        std::string_view group = given.user;
        container.user = linux::cut(group, ':');
        container.group = group;
      }
      if (given.forbid_root) container.forbid_root = true;
      if (given.read_only_root) container.read_only_root = true;
      set_given_variables(container, given);
      for (const auto& [name, value] : given.labels) container.annotations[name] = value;
    }
  if (given.port)
    for (Container& container : pod.containers) move_port(container, *given.port);
  return {};
}

Result<void> keep_claims(const HostPath& data, const Workload& workload, Given& given) {
  for (const Volume& volume : workload.pod.volumes) {
    if (!volume.is_claimed) continue;
    const auto named = within(check_volume_name(volume.source), workload.at(volume.place));
    if (!named && !given.volumes.contains(volume.name) && !given.volumes.contains(volume.source))
      return named;
    given.claims.emplace(volume.name,
                         VolumeBinding{.directory = kept_volume_path(data, volume.source),
                                       .read_only = false,
                                       .is_kept = true});
  }
  return {};
}

Result<void> check_given(const Given& given, const Workload& workload, Audience audience) {
  const bool is_here = audience == Audience::kThisMachine;
  std::vector<std::string> sentences;
  for (const Need& need : needs_of(workload.pod))
    if (!is_met(given, need) && (is_here || is_of_all_engines(need)))
      sentences.push_back(fmt::format("{}: {}{}", workload.at(need.place),
                                      need.is_fault ? "" : "needs ", need.sentence));
  Names names = names_for(workload.pod);
  names.parameters.merge(parameters_of_connections(given, workload.pod));
  find_unused("--volume", given.volumes, names.volumes, sentences);
  find_unused("--param", given.bindings.parameters, names.parameters, sentences);
  find_unused("--secret", given.bindings.secrets, names.secrets, sentences);
  find_unused("--image", given.images, names.images, sentences);
  find_unused("--pull-secret", given.pulling.auth_files, names.pull_secrets, sentences);
  find_unused("--extended", given.extended, names.extended, sentences);
  for (const NamedDevice& device : given.devices)
    if (!device.container.empty() && !has_container(workload.pod, device.container))
      sentences.push_back(fmt::format("--device {}:{}={}: the document has no container \"{}\"",
                                      device.container, device.kind, device.name,
                                      device.container));
  for (const Container* container : all_containers(workload.pod)) {
    if (!container->seccomp || !is_here) continue;
    const auto profile = seccomp_of(*container, given);
    if (!profile)
      sentences.push_back(
          fmt::format("{}: {}", workload.at(container->seccomp->place), profile.error().message()));
  }
  if (sentences.empty())
    for (const PlacedError& error : find_expansion_errors(
             workload.pod, given.bindings, is_here ? Missing::kRefused : Missing::kEmpty))
      sentences.push_back(fmt::format("{}: {}", workload.at(error.place), error.error.message()));
  if (sentences.empty()) return {};
  return refuse("{}", fmt::join(sentences, "; "));
}

Result<SeccompChoice> seccomp_of(const Container& container, const Given& given) {
  if (!container.seccomp) return given.seccomp;
  switch (container.seccomp->kind) {
    case SeccompRequest::Kind::kRuntimeDefault:
      return SeccompChoice{};
    case SeccompRequest::Kind::kUnconfined:
      return SeccompChoice{.kind = SeccompChoice::Kind::kUnconfined, .profile = ""};
    case SeccompRequest::Kind::kLocalhost:
      break;
  }
  auto profile = [&]() -> Result<SeccompChoice> {
    OCIRUN_TRY_ASSIGN(const linux::SafeDir directory,
                      linux::SafeDir::open_root(HostPath(given.seccomp_profiles)));
    OCIRUN_TRY_ASSIGN(const UniqueFd file, directory.open(RootfsPath("/" + container.seccomp->file),
                                                          O_RDONLY | O_NOCTTY | O_NONBLOCK));
    OCIRUN_TRY_ASSIGN(std::string text, linux::sys::read_all(file, bundle::Document::kMaxSize));
    return read_seccomp_profile(std::move(text));
  }();
  return within(std::move(profile), "the seccomp profile {}/{} (--seccomp-profiles DIR)",
                given.seccomp_profiles, container.seccomp->file);
}

}  // namespace ocirun::pods
