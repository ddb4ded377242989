#include <algorithm>
#include <array>

#include "linux/base/name_table.hpp"
#include "linux/process/capabilities.hpp"
#include "pods/knative/service.hpp"
#include "pods/model/container_reader.hpp"
#include "pods/model/device_requests.hpp"
#include "pods/model/scalars.hpp"

namespace ocirun::pods {
namespace {

bool port_name(Value at, std::string& out) {
  static constexpr std::array<std::string_view, 2> kNames = {"http1", "h2c"};
  if (!string(at, out)) return false;
  if (out.empty() || std::ranges::find(kNames, out) != kNames.end()) return true;
  bundle::unknown_word(at, "name of a port", kNames);
  return false;
}

constexpr auto kPort = placed(exact_fields<Port>(
    field("name", &Port::name, port_name), required("containerPort", &Port::number, port_number),
    part("protocol",
         [](Value at, Port&) {
           std::string word;
           if (!string(at, word)) return false;
           if (word == "TCP") return true;
           at.problem("must be TCP: requests are HTTP");
           return false;
         }),
    part("hostPort",
         [](Value at, Port&) {
           at.problem("must not be set: it interferes with automatic scaling");
           return false;
         }),
    not_supported("hostIP", "the port is forwarded from all addresses of the host")));

constexpr auto kAmounts =
    exact_fields<Amounts>(
        field("cpu", &Amounts::cpus, kubernetes_cpus),
        field("memory", &Amounts::memory, kubernetes_bytes),
        not_supported("ephemeral-storage", "what a container writes to its root has no limit"))
        .beside(is_device_amount);
constexpr auto kResourceMembers = bundle::checked(
    placed(exact_fields<Resources>(field("requests", &Resources::requests, kAmounts),
                                   field("limits", &Resources::limits, kAmounts),
                                   not_supported("claims", "limits name devices of the host"))),
    check_limits);
bool resources_of_container(Value at, Resources& out) {
  return kResourceMembers(at, out) && device_requests(at, out.devices);
}

struct CapabilityChange {
  std::vector<std::string> added, dropped;
};

/// "ALL", or names of capabilities with or without CAP_.
bool capabilities(Value at, Security& out) {
  static constexpr auto kTable =
      exact_fields<CapabilityChange>(field("add", &CapabilityChange::added, strings),
                                     field("drop", &CapabilityChange::dropped, strings));
  CapabilityChange change;
  if (!kTable(at, change)) return false;
  const auto whole_name = [](const std::string& name) {
    return name.starts_with("CAP_") ? name : "CAP_" + name;
  };
  for (const std::string& name : change.added)
    if (whole_name(name) != "CAP_NET_BIND_SERVICE") {
      at.problem_at("add", "only NET_BIND_SERVICE may be added, not \"{}\"", name);
      return false;
    }
  if (std::ranges::find(change.dropped, "ALL") != change.dropped.end()) {
    out.retained_capabilities.emplace();
    for (const std::string& name : change.added)
      out.retained_capabilities->push_back(whole_name(name));
    return true;
  }
  for (const std::string& name : change.dropped) {
    out.removed_capabilities.push_back(whole_name(name));
    if (linux::capability_number(out.removed_capabilities.back())) continue;
    at.problem_at("drop", "unknown capability \"{}\"", name);
    return false;
  }
  return true;
}

/// A numeric id as text, as Container has it.
template <typename Reader>
constexpr auto id_text(std::string Container::* member, Reader reader) {
  return [=](Value at, Container& out) {
    std::conditional_t<std::same_as<Reader, decltype(&bundle::uid)>, Uid, Gid> id;
    if (!reader(at, id)) return false;
    out.*member = fmt::format("{}", id.value());
    return true;
  };
}

constexpr linux::Named<SeccompRequest::Kind> kSeccompKinds[] = {
    {"RuntimeDefault", SeccompRequest::Kind::kRuntimeDefault},
    {"Localhost", SeccompRequest::Kind::kLocalhost},
    {"Unconfined", SeccompRequest::Kind::kUnconfined}};

constexpr linux::Named<PullPolicy> kPullPolicies[] = {{"Always", PullPolicy::kAlways},
                                                      {"IfNotPresent", PullPolicy::kMissing},
                                                      {"Never", PullPolicy::kNever}};

bool profile_file(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (!out.starts_with('/') && !has_dot_dot(out)) return true;
  at.problem("must be a path without \"..\" in the directory of --seccomp-profiles, not {}",
             found(at));
  return false;
}

constexpr auto kSeccomp = bundle::checked(
    placed(exact_fields<SeccompRequest>(
        required("type", &SeccompRequest::kind,
                 bundle::word(
                     "type of a seccomp profile",
                     [](std::string_view word) { return linux::value_of(kSeccompKinds, word); },
                     [] { return linux::names_of(kSeccompKinds); })),
        field("localhostProfile", &SeccompRequest::file, profile_file))),
    [](Value at, const SeccompRequest& request) {
      const bool is_localhost = request.kind == SeccompRequest::Kind::kLocalhost;
      if (is_localhost && request.file.empty())
        at.problem_at("localhostProfile", "is missing, the type Localhost needs it");
      if (!is_localhost && !request.file.empty())
        at.problem_at("localhostProfile", "is only for the type Localhost");
    });

constexpr std::string_view kForbidden = "the Knative contract does not let a developer set it";
constexpr std::array kOtherSecurity{
    UnsupportedName{"privileged", kForbidden},
    UnsupportedName{"procMount", kForbidden},
    UnsupportedName{"seLinuxOptions", kForbidden},
    UnsupportedName{"appArmorProfile", kForbidden},
    UnsupportedName{"windowsOptions", "containers of another system do not run here"},
};

/// KN-16, KN-17. What is not here must not be set by the developer (KN-15).
constexpr auto kSecurityMembers =
    exact_fields<Container>(
        part("runAsUser", id_text(&Container::user, &bundle::uid)),
        part("runAsGroup", id_text(&Container::group, &bundle::gid)),
        field("runAsNonRoot", &Container::forbid_root, boolean),
        field("readOnlyRootFilesystem", &Container::read_only_root, boolean),
        part("allowPrivilegeEscalation",
             [](Value at, Container& out) {
               bool allowed = true;
               if (!boolean(at, allowed)) return false;
               out.security.no_new_privileges = !allowed;
               return true;
             }),
        part("capabilities",
             [](Value at, Container& out) { return capabilities(at, out.security); }),
        field("seccompProfile", &Container::seccomp, kSeccomp))
        .beside([](Value member) { return refuse_if_listed(member, kOtherSecurity); });

constexpr auto kSecurityContext =
    bundle::checked(kSecurityMembers, [](Value at, const Container& container) {
      if (container.forbid_root && container.user == "0")
        at.problem_at("runAsUser", "is 0, which runAsNonRoot forbids");
    });

constexpr std::string_view kNoTerminal =
    "nobody is at the terminal of a container that serves requests";
constexpr std::array kUnsupportedOfContainer{
    UnsupportedName{"lifecycle", "containers have no hooks; --grace is the time that a stop gives"},
    UnsupportedName{"restartPolicy", "--restart says when a container is started again"},
    UnsupportedName{"restartPolicyRules", "--restart says when a container is started again"},
    UnsupportedName{"resizePolicy", "resources are those of the start"},
    UnsupportedName{"stdin", kNoTerminal},
    UnsupportedName{"stdinOnce", kNoTerminal},
    UnsupportedName{"tty", kNoTerminal},
    UnsupportedName{"volumeDevices", "containers get no devices of the host"},
};

constexpr auto kContainer =
    exact_fields<Container>(
        field("name", &Container::name, dns_label), required_part("image", container_image),
        field("command", &Container::command, command_line),
        field("args", &Container::args, strings),
        field("workingDir", &Container::working_directory, container_path),
        field("env", &Container::env, knative_env),
        field("envFrom", &Container::env_sources, knative_env_sources),
        field("ports", &Container::ports, list_of(kPort)),
        field("livenessProbe", &Container::liveness, knative_probe),
        field("readinessProbe", &Container::readiness, knative_probe),
        field("startupProbe", &Container::startup, knative_probe),
        field("resources", &Container::resources, resources_of_container),
        field("volumeMounts", &Container::mounts, knative_mounts),
        part("securityContext", kSecurityContext),
        field("imagePullPolicy", &Container::pull_policy,
              bundle::word(
                  "imagePullPolicy",
                  [](std::string_view word) { return linux::value_of(kPullPolicies, word); },
                  [] { return linux::names_of(kPullPolicies); })),
        no_effect("terminationMessagePath",
                  "the status of the pod has no message of the container"),
        no_effect("terminationMessagePolicy",
                  "the status of the pod has no message of the container"))
        .beside([](Value member) { return refuse_if_listed(member, kUnsupportedOfContainer); });

/// `prefix`: the name of the first container without a name.
bool read_containers(Value at, std::vector<Container>& out, std::string_view prefix) {
  const auto container = [](Value item, Container& read) {
    read.place = &item.node();
    const bool good = kContainer(item, read);
    resolve_port_names(item, read);
    return good;
  };
  if (!list_of(container)(at, out)) return false;
  std::size_t index = 0;
  for (Container& read : out) {  // the names that a cluster gives
    if (read.name.empty())
      read.name = index == 0 ? std::string(prefix) : fmt::format("{}-{}", prefix, index);
    ++index;
  }
  report_twice(at, out, by("name", &Container::name));
  return true;
}

}  // namespace

bool knative_containers(Value at, std::vector<Container>& out) {
  return read_containers(at, out, "user-container");
}
bool knative_init_containers(Value at, std::vector<Container>& out) {
  return read_containers(at, out, "init-container");
}

}  // namespace ocirun::pods
