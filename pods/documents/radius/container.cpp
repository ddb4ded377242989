#include <algorithm>

#include "pods/documents/model/container_reader.hpp"
#include "pods/documents/radius/resource.hpp"

namespace ocirun::pods {
namespace {

/// secretId of the note, or secretName of the published type.
bool secret_key(Value at, SecretKey& out) {
  static constexpr auto kTable =
      exact_fields<SecretKey>(bundle::field("secretId", &SecretKey::secret, nonempty_string),
                              bundle::field("secretName", &SecretKey::secret, nonempty_string),
                              required("key", &SecretKey::key, nonempty_string),
                              removed("source", "", "it is called secretId now"));
  if (!kTable(at, out)) return false;
  return has_exactly_one_of(at, "secretId", "secretName");
}

constexpr auto kCoreSecretKey =
    exact_fields<SecretKey>(required("source", &SecretKey::secret, nonempty_string),
                            required("key", &SecretKey::key, nonempty_string));

template <typename Reader>
constexpr auto of_secret_key(Reader reader) {
  return
      [reader](Value at, EnvVariable& out) { return reader(at, out.value.emplace<SecretKey>()); };
}

/// RX-6
template <typename ValueFrom>
constexpr auto variable_fields(ValueFrom value_from) {
  return exact_fields<EnvVariable>(
      part("value",
           [](Value at, EnvVariable& out) { return string(at, out.value.emplace<std::string>()); }),
      part("valueFrom", value_from));
}

bool variable(Value at, Edition edition, EnvVariable& out) {
  static constexpr auto kCore = variable_fields(
      exact_fields<EnvVariable>(required_part("secretRef", of_secret_key(kCoreSecretKey))));
  static constexpr auto kCompute = variable_fields(exact_fields<EnvVariable>(
      required_part("secretKeyRef", of_secret_key(secret_key)),
      removed("secretRef", "secretKeyRef", "it is called secretKeyRef now")));
  return edition == Edition::kCore ? kCore(at, out) : kCompute(at, out);
}

template <typename... Rows>
constexpr auto port_fields(Rows... rows) {
  return exact_fields<Port>(
      required("containerPort", &Port::number, port_number),
      field("protocol", &Port::protocol, protocol), rows..., part("port", [](Value at, Port& out) {
        if (!port_number(at, out.service)) return false;
        at.warning("has no effect: there is no Service in front of the container");
        return true;
      }));
}

bool port(Value at, Edition edition, Port& out) {
  static constexpr auto kCore = port_fields(no_effect("scheme", "nobody makes a URL of the port"));
  static constexpr auto kCompute = port_fields();
  return edition == Edition::kCore ? kCore(at, out) : kCompute(at, out);
}

/// A number in the note, text such as "0.1" in the published type.
bool cpus(Value at, std::optional<double>& out) {
  double count = 0;
  if (!(at.node().is_string() ? kubernetes_cpus(at, count) : cpu_count(at, count))) return false;
  out = count;
  return true;
}

bool mebibytes(Value at, Amounts& out) {
  std::uint64_t count = 0;
  if (!whole_number(1, std::uint64_t{1} << 42)(at, count)) return false;
  out.memory = count << 20;
  return true;
}

/// RX-10, RX-11. The note spells the unit in two ways; both are read.
bool amounts(Value at, Amounts& out) {
  static constexpr auto kAmounts = exact_fields<Amounts>(
      part("cpu", [](Value cpu, Amounts& read) { return cpus(cpu, read.cpus); }),
      part("memoryInMiB", mebibytes), part("memoryInMib", mebibytes));
  if (!kAmounts(at, out)) return false;
  if (!at.member("memoryInMiB") || !at.member("memoryInMib")) return true;
  at.problem_at("memoryInMib", "is the same as memoryInMiB, which is there too");
  return false;
}

constexpr auto resources =
    bundle::checked(placed(exact_fields<Resources>(field("requests", &Resources::requests, amounts),
                                                   field("limits", &Resources::limits, amounts))),
                    check_limits);

/// A container, or an init container.
struct Declared {
  Container container;
  bool is_init = false;
};

constexpr auto kContainer = exact_fields<Declared>(
    required_part("image",
                  [](Value at, Declared& out) { return container_image(at, out.container); }),
    field("initContainer", &Declared::is_init, boolean),
    part("command", of_container(&Container::command, command_line)),
    part("args", of_container(&Container::args, strings)),
    part("env", of_container(&Container::env, for_edition<Edition::kCompute>(radius_env))),
    part("ports", of_container(&Container::ports, for_edition<Edition::kCompute>(radius_ports))),
    part("workingDir", of_container(&Container::working_directory, container_path)),
    part("volumeMounts", of_container(&Container::mounts, radius_volume_mounts)),
    part("resources", of_container(&Container::resources, resources)),
    part("livenessProbe", of_container(&Container::liveness, kubernetes_probe)),
    part("readinessProbe", of_container(&Container::readiness, kubernetes_readiness_probe)),
    removed("imagePullPolicy", "", "--pull says when an image is fetched"),
    removed("volumes", "", "write volumeMounts here, and volumes beside containers"));

bool container(Value member, Declared& out) {
  out.container.name = member.key();
  out.container.place = &member.node();
  const bool is_named = has_radius_name(member);
  const bool is_read = kContainer(member, out);
  resolve_port_names(member, out.container);
  return is_named && is_read;
}

bool check_init_container(Value member) {
  bool good = true;
  for (const std::string_view probe : {"livenessProbe", "readinessProbe"})
    if (member.member(probe)) {
      member.problem_at(probe, "an init container has no probes");
      good = false;
    }
  return good;
}

}  // namespace

bool radius_env(Value at, Edition edition, std::vector<EnvVariable>& out) {
  return named_items(at, out, [edition](Value member, EnvVariable& item) {
    if (item.name.empty() ||
        item.name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
      member.problem("the name of a variable must not be empty, and must not contain \"=\" or NUL");
      return false;
    }
    if (!member.node().is_object()) {
      member.problem("must be an object with value or valueFrom, not {}", found(member));
      return false;
    }
    return variable(member, edition, item) && has_exactly_one_of(member, "value", "valueFrom");
  });
}

bool radius_ports(Value at, Edition edition, std::vector<Port>& out) {
  return named_items(at, out, [edition](Value member, Port& item) {
    const bool is_named = has_radius_name(member);
    return port(member, edition, item) && is_named;
  });
}

bool radius_containers(Value at, Pod& out) {
  if (!at.expect_object() || !are_few_containers(at)) return false;
  bool good = true;
  for (const Value member : at) {
    Declared declared;
    good &= container(member, declared);
    if (declared.is_init) good &= check_init_container(member);
    (declared.is_init ? out.init_containers : out.containers)
        .push_back(std::move(declared.container));
  }
  return good;
}

bool radius_init_containers(Value at, Pod& out) {
  if (!at.expect_object() || !are_few_containers(at)) return false;
  bool good = true;
  for (const Value member : at) {
    Declared declared;
    good &= container(member, declared) && check_init_container(member);
    if (const auto flag = member.member("initContainer"); flag && !declared.is_init)
      flag->problem("must be true: all of initContainers are init containers");
    out.init_containers.push_back(std::move(declared.container));
  }
  return good;
}

}  // namespace ocirun::pods
