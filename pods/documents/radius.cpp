#include <algorithm>
#include <set>

#include "bundle/json/writer.hpp"
#include "pods/documents/probe.hpp"
#include "pods/documents/radius_scaling.hpp"
#include "pods/documents/readers.hpp"
#include "pods/documents/scalars.hpp"

namespace ocirun::pods {
namespace {

/// The members of an object in the document's order. `reader` reads a member into a new element of
/// `out`, whose `name` is the member's name.
template <typename Item, typename Reader>
bool named_items(Value at, std::vector<Item>& out, Reader reader) {
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value member : at) {
    Item& item = out.emplace_back();
    item.name = member.key();
    item.place = &member.node();
    good &= reader(member, item);
  }
  return good;
}

/// The problem of a name that an edition of the resource type had (RX-6, RX-18).
constexpr auto removed(std::string_view key, std::string_view advice) {
  return part(key, [advice](Value at, auto&) {
    at.problem("was removed from the resource type: {}", advice);
    return false;
  });
}

bool is_label_name(Value member) {
  if (is_dns_label(member.key())) return true;
  member.problem(
      "the name must be 1 to 63 lower-case letters, digits and \"-\", with a letter or digit at "
      "both ends");
  return false;
}

constexpr auto kSecretKey =
    exact_fields<SecretKey>(required("secretId", &SecretKey::secret, nonempty_string),
                            required("key", &SecretKey::key, nonempty_string),
                            removed("source", "it is called secretId now"));

/// RX-6
constexpr auto kValueFrom = exact_fields<EnvVariable>(
    required_part(
        "secretKeyRef",
        [](Value at, EnvVariable& out) { return kSecretKey(at, out.value.emplace<SecretKey>()); }),
    removed("secretRef", "it is called secretKeyRef now"));

constexpr auto kVariable = exact_fields<EnvVariable>(
    part("value",
         [](Value at, EnvVariable& out) { return string(at, out.value.emplace<std::string>()); }),
    part("valueFrom", kValueFrom));

/// RX-5
bool env(Value at, std::vector<EnvVariable>& out) {
  return named_items(at, out, [](Value member, EnvVariable& item) {
    if (item.name.empty() || item.name.contains('=')) {
      member.problem("the name of a variable must not be empty, and must not contain \"=\"");
      return false;
    }
    if (!kVariable(member, item)) return false;
    if (member.member("value").has_value() != member.member("valueFrom").has_value()) return true;
    member.problem("must have exactly one of value and valueFrom");
    return false;
  });
}

constexpr auto kPort = exact_fields<Port>(
    required("containerPort", &Port::number, port_number),
    field("protocol", &Port::protocol, protocol), part("port", [](Value at, Port&) {
      std::uint16_t number = 0;
      if (!port_number(at, number)) return false;
      at.warning("has no effect: there is no Service in front of the container");
      return true;
    }));

/// RX-7
bool ports(Value at, std::vector<Port>& out) {
  return named_items(at, out, [](Value member, Port& item) {
    return is_label_name(member) && kPort(member, item);
  });
}

/// RX-8. A mount has a name of its own that nothing refers to.
bool volume_mounts(Value at, std::vector<Mount>& out) {
  static constexpr auto kMount =
      placed(exact_fields<Mount>(required("mountPath", &Mount::path, path_below_root),
                                 required("volumeName", &Mount::volume, nonempty_string)));
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value member : at) {
    good &= kMount(member, out.emplace_back());
    const std::string& path = out.back().path;
    if (std::ranges::count(out, path, &Mount::path) < 2 || path.empty()) continue;
    member.problem_at("mountPath", "\"{}\" is the path of another mount too", path);
    good = false;
  }
  return good;
}

bool mebibytes(Value at, Amounts& out) {
  std::uint64_t count = 0;
  if (!bundle::range(1, std::uint64_t{1} << 42)(at, count)) return false;
  out.memory = count << 20;
  return true;
}

/// RX-10, RX-11. The resource type spells the unit in two ways; both are read.
bool amounts(Value at, Amounts& out) {
  static constexpr auto kAmounts =
      exact_fields<Amounts>(field("cpu", &Amounts::cpus, cpu_count), part("memoryInMiB", mebibytes),
                            part("memoryInMib", mebibytes));
  if (!kAmounts(at, out)) return false;
  if (!at.member("memoryInMiB") || !at.member("memoryInMib")) return true;
  at.problem_at("memoryInMib", "is the same as memoryInMiB, which is there too");
  return false;
}

constexpr auto resources =
    bundle::checked(placed(exact_fields<Resources>(field("requests", &Resources::requests, amounts),
                                                   field("limits", &Resources::limits, amounts))),
                    check_limits);

constexpr auto kContainer = exact_fields<Container>(
    required_part("image",
                  [](Value at, Container& out) {
                    out.image_place = &at.node();
                    return image_reference(at, out.image);
                  }),
    field("command", &Container::command, command_line), field("args", &Container::args, strings),
    field("env", &Container::env, env), field("ports", &Container::ports, ports),
    field("workingDir", &Container::working_directory, container_path),
    field("volumeMounts", &Container::mounts, volume_mounts),
    field("resources", &Container::resources, resources),
    field("livenessProbe", &Container::liveness, kubernetes_probe),
    field("readinessProbe", &Container::readiness, kubernetes_probe),
    removed("imagePullPolicy", kNothingIsFetched),
    removed("volumes", "write volumeMounts here, and volumes beside containers"));

bool containers(Value at, std::vector<Container>& out) {
  return named_items(at, out, [](Value member, Container& item) {
    const bool is_named = is_label_name(member);
    const bool is_read = kContainer(member, item);
    resolve_port_names(member, item);
    return is_named && is_read;
  });
}

/// RX-2
bool init_containers(Value at, std::vector<Container>& out) {
  if (!containers(at, out)) return false;
  for (const Value member : at)
    for (const std::string_view probe : {"livenessProbe", "readinessProbe"})
      if (member.member(probe)) member.problem_at(probe, "an init container has no probes");
  return true;
}

/// RX-9
bool volume(Value at, Volume& out) {
  static constexpr auto kVolume =
      exact_fields<Volume>(field("persistentVolumeId", &Volume::source, nonempty_string),
                           field("secretId", &Volume::source, nonempty_string),
                           part("emptyDir", [](Value empty, Volume&) {
                             if (!empty.expect_object()) return false;
                             for (const Value member : empty)
                               member.problem("unknown name: emptyDir is null or {{}}");
                             return true;
                           }));
  if (!kVolume(at, out)) return false;
  int given = 0;
  for (const Value member : at) {  // a loop, because `emptyDir: null` counts
    if (member.is_null() && member.key() != "emptyDir") continue;
    ++given;
    if (member.key() == "persistentVolumeId") out.kind = Volume::Source::kOperator;
    if (member.key() == "secretId") out.kind = Volume::Source::kSecret;
  }
  out.mode = 0777;  // of emptyDir, as Kubernetes makes it, on which Radius runs
  out.read_only = out.kind == Volume::Source::kSecret;
  if (given == 1) return true;
  at.problem("must have exactly one of persistentVolumeId, secretId and emptyDir, not {}", given);
  return false;
}

bool volumes(Value at, std::vector<Volume>& out) {
  return named_items(at, out, [](Value member, Volume& item) {
    const bool is_named = is_label_name(member);
    return volume(member, item) && is_named;
  });
}

/// RX-16
bool connections(Value at, std::vector<Connection>& out) {
  static constexpr auto kConnection =
      exact_fields<Connection>(required("source", &Connection::source, nonempty_string),
                               part("disableDefaultEnvVars",
                                    [](Value flag, Connection& item) {
                                      bool disabled = false;
                                      if (!boolean(flag, disabled)) return false;
                                      item.sets_variables = !disabled;
                                      return true;
                                    }),
                               removed("iam", "a recipe of the platform may grant access"));
  return named_items(at, out, [](Value member, Connection& item) {
    if (!kConnection(member, item)) return false;
    if (!item.sets_variables)
      member.warning(
          "the connection has no effect: disableDefaultEnvVars leaves out its variables, and there "
          "is nothing else that it gives");
    return true;
  });
}

constexpr std::string_view kNoRadius = "no Radius stands behind this command";

constexpr auto kProperties = exact_fields<Pod>(
    no_effect("environment", kNoRadius), no_effect("application", kNoRadius),
    required("containers", &Pod::containers, containers),
    field("initContainers", &Pod::init_containers, init_containers),
    field("volumes", &Pod::volumes, volumes), field("connections", &Pod::connections, connections),
    part("autoScaling", auto_scaling), part("replicas", replicas), part("extensions", extensions),
    removed("container",
            "write it as a member of containers, which is an object of containers now"));

/// The members that every resource has.
constexpr auto kResource = exact_fields<Pod>(
    required("name", &Pod::name, dns_name), required_part("properties", kProperties),
    part("type",
         [](Value at, Pod& /*out*/) {
           std::string type;
           if (!string(at, type)) return false;
           if (type.substr(0, type.find('@')).ends_with("/containers")) return true;
           at.problem("must be a type of containers, such as Radius.Compute/containers, not {}",
                      found(at));
           return false;
         }),
    no_effect("id", kNoRadius), no_effect("location", kNoRadius),
    no_effect("apiVersion", kNoRadius),
    part("tags", [](Value at, Pod& out) { return string_map(at, out.annotations); }));

/// A mount needs its volume, and a name belongs to one container.
void check(Value properties, const Pod& pod) {
  if (properties.member("containers") && pod.containers.empty())
    properties.problem_at("containers", "must have at least one container");
  std::set<std::string> volume_names, names;
  for (const Volume& item : pod.volumes) volume_names.insert(item.name);
  for (const Container& container : pod.containers) names.insert(container.name);
  const auto check_mounts = [&](const Container& container) {
    for (const Mount& mount : container.mounts) {
      if (mount.volume.empty() || volume_names.contains(mount.volume)) continue;
      Value(*mount.place, properties.report())
          .problem_at("volumeName", "\"{}\" is none of the volumes", mount.volume);
    }
  };
  std::ranges::for_each(pod.containers, check_mounts);
  std::ranges::for_each(pod.init_containers, check_mounts);
  for (const Container& init : pod.init_containers)
    if (names.contains(init.name))
      Value(*init.place, properties.report())
          .problem("is the name of a container too: names must be unique among all containers");
}

}  // namespace

void read_radius(Value at, Pod& out) {
  out.kind = Kind::kRadius;
  out.restart = Restart::kAlways;
  kResource(at, out);
  const auto properties = at.member("properties");
  if (properties && properties->node().is_object()) check(*properties, out);
}

}  // namespace ocirun::pods
