#include <algorithm>
#include <array>

#include "linux/process/capabilities.hpp"
#include "pods/documents/knative.hpp"
#include "pods/documents/probe.hpp"
#include "pods/documents/scalars.hpp"

namespace ocirun::pods {
namespace {

/// KN-1, KN-2: the platform sets these.
constexpr std::array<std::string_view, 4> kReserved = {"PORT", "K_SERVICE", "K_CONFIGURATION",
                                                       "K_REVISION"};

bool variable_name(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (out.contains('=')) {
    at.problem("must not contain \"=\": {}", found(at));
    return false;
  }
  if (std::ranges::find(kReserved, out) == kReserved.end()) return true;
  at.problem("{} is set by the platform, and must not be set here", out);
  return false;
}

constexpr auto kKey = exact_fields<SecretKey>(required("name", &SecretKey::secret, dns_name),
                                              required("key", &SecretKey::key, nonempty_string));

bool secret_key(Value at, EnvVariable& out) { return kKey(at, out.value.emplace<SecretKey>()); }
bool config_map_key(Value at, EnvVariable& out) {
  SecretKey& key = out.value.emplace<SecretKey>();
  if (!kKey(at, key)) return false;
  key.secret.insert(0, kConfigMapPrefix);
  return true;
}

constexpr auto kValueFrom = exact_fields<EnvVariable>(part("secretKeyRef", secret_key),
                                                      part("configMapKeyRef", config_map_key));

constexpr auto kVariable = placed(exact_fields<EnvVariable>(
    required("name", &EnvVariable::name, variable_name),
    part("value",
         [](Value at, EnvVariable& out) { return string(at, out.value.emplace<std::string>()); }),
    part("valueFrom", [](Value at, EnvVariable& out) {
      if (!kValueFrom(at, out)) return false;
      if (at.member("secretKeyRef").has_value() != at.member("configMapKeyRef").has_value())
        return true;
      at.problem("must have exactly one of secretKeyRef and configMapKeyRef");
      return false;
    })));

constexpr auto kOneValue = bundle::checked(kVariable, [](Value at, const EnvVariable&) {
  if (at.member("value") && at.member("valueFrom"))
    at.problem("must not have both value and valueFrom");
});
constexpr auto env = unique_list_of(kOneValue, by("name", &EnvVariable::name));

bool source_name(Value at, EnvSource& out) {
  static constexpr auto kTable =
      exact_fields<EnvSource>(required("name", &EnvSource::secret, dns_name));
  return kTable(at, out);
}

bool config_map_name(Value at, EnvSource& out) {
  if (!source_name(at, out)) return false;
  out.secret.insert(0, kConfigMapPrefix);
  return true;
}

bool env_source(Value at, EnvSource& out) {
  static constexpr auto kTable = placed(exact_fields<EnvSource>(
      field("prefix", &EnvSource::prefix, string), part("secretRef", source_name),
      part("configMapRef", config_map_name)));
  if (!kTable(at, out)) return false;
  if (at.member("secretRef").has_value() != at.member("configMapRef").has_value()) return true;
  at.problem("must have exactly one of secretRef and configMapRef");
  return false;
}

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
    part("hostPort", [](Value at, Port&) {
      at.problem("must not be set: it interferes with automatic scaling");
      return false;
    })));

constexpr auto kAmounts =
    exact_fields<Amounts>(field("cpu", &Amounts::cpus, kubernetes_cpus),
                          field("memory", &Amounts::memory, kubernetes_bytes));
constexpr auto kResources = bundle::checked(
    placed(exact_fields<Resources>(field("requests", &Resources::requests, kAmounts),
                                   field("limits", &Resources::limits, kAmounts))),
    check_limits);

constexpr auto kMount =
    placed(exact_fields<Mount>(required("name", &Mount::volume, dns_label),
                               required("mountPath", &Mount::path, path_below_root),
                               field("readOnly", &Mount::read_only, boolean)));

constexpr auto mounts = unique_list_of(kMount, by("mountPath", &Mount::path));

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

/// KN-16, KN-17. What is not here must not be set by the developer (KN-15).
constexpr auto kSecurityMembers = exact_fields<Container>(
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
    part("capabilities", [](Value at, Container& out) { return capabilities(at, out.security); }));

constexpr auto kSecurityContext =
    bundle::checked(kSecurityMembers, [](Value at, const Container& container) {
      if (container.forbid_root && container.user == "0")
        at.problem_at("runAsUser", "is 0, which runAsNonRoot forbids");
    });

constexpr auto kContainer = exact_fields<Container>(
    field("name", &Container::name, dns_label),
    required_part("image",
                  [](Value at, Container& out) {
                    out.image_place = &at.node();
                    return image_reference(at, out.image);
                  }),
    field("command", &Container::command, command_line), field("args", &Container::args, strings),
    field("workingDir", &Container::working_directory, container_path),
    field("env", &Container::env, env),
    field("envFrom", &Container::env_sources, list_of(env_source)),
    field("ports", &Container::ports, list_of(kPort)),
    field("livenessProbe", &Container::liveness, knative_probe),
    field("readinessProbe", &Container::readiness, knative_probe),
    field("startupProbe", &Container::startup, knative_probe),
    field("resources", &Container::resources, kResources),
    field("volumeMounts", &Container::mounts, mounts), part("securityContext", kSecurityContext),
    no_effect("imagePullPolicy", kNothingIsFetched),
    no_effect("terminationMessagePath", "the status of the pod has no message of the container"),
    no_effect("terminationMessagePolicy", "the status of the pod has no message of the container"));

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
