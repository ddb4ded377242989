#include <sys/utsname.h>

#include <algorithm>
#include <map>

#include "bundle/json/writer.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/text.hpp"
#include "pods/documents/model/container_reader.hpp"
#include "pods/documents/model/kept.hpp"
#include "pods/documents/model/platform.hpp"
#include "pods/documents/model/scalars.hpp"
#include "pods/documents/oam/application.hpp"

namespace ocirun::pods {
namespace {

using linux::is_alphanumeric;

/// OAM-15. The letters and digits of all scripts are allowed; of ASCII, only the characters that
/// the specification names.
bool variable_name(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  const auto good = [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
  };
  if (std::ranges::all_of(out, good)) return true;
  at.problem("must be letters, digits, \"_\" and \"-\", not {}", found(at));
  return false;
}

constexpr auto kSecretKey =
    exact_fields<SecretKey>(required("name", &SecretKey::secret, nonempty_string),
                            required("key", &SecretKey::key, nonempty_string));

constexpr auto kEnv = bundle::checked(
    placed(exact_fields<EnvVariable>(required("name", &EnvVariable::name, variable_name),
                                     part("value",
                                          [](Value at, EnvVariable& out) {
                                            return string(at, out.value.emplace<std::string>());
                                          }),
                                     part("fromSecret",
                                          [](Value at, EnvVariable& out) {
                                            return kSecretKey(at, out.value.emplace<SecretKey>());
                                          }))),
    [](Value at, const EnvVariable&) {
      if (at.member("value") && at.member("fromSecret"))
        at.problem("must not have both value and fromSecret");
    });

bool env(Value at, std::vector<EnvVariable>& out) {
  if (!list_of(kEnv)(at, out)) return false;
  warn_of_replaced(at, out);
  return true;
}

/// OAM-16: a relative path is relative to the container's root.
bool config_path(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  const bool is_directory = out.ends_with('/') || out.ends_with("/.");
  std::string shortest;
  for (const std::string_view part : linux::words(out, '/'))
    if (part != ".") shortest.append("/").append(part);
  if (is_directory || shortest.empty() || has_dot_dot(out)) {
    at.problem("must name a file, and must not contain \"..\": {}", found(at));
    return false;
  }
  out = std::move(shortest);
  return true;
}

/// A member of the runtime of OAM for Kubernetes, whose examples use it.
bool file_from_secret(Value at, ConfigFile&) {
  at.problem("is not supported: pass the secret as a variable, with fromSecret in env");
  return false;
}

constexpr auto kConfigFile = bundle::checked(
    placed(exact_fields<ConfigFile>(required("path", &ConfigFile::path, config_path),
                                    bundle::field("value", &ConfigFile::value, string),
                                    field("fromParam", &ConfigFile::parameter, nonempty_string),
                                    part("fromSecret", file_from_secret))),
    [](Value at, const ConfigFile& file) {
      if (!file.value && !file.parameter)
        at.problem("must have value or fromParam: it has neither");
    });

constexpr auto config_files = unique_list_of(kConfigFile, by("path", &ConfigFile::path));

/// OAM-17
bool port_name(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (std::ranges::all_of(out, linux::is_lower)) return true;
  at.problem("must be lower-case letters a to z, not {}", found(at));
  return false;
}

constexpr auto kPort = placed(exact_fields<Port>(
    required("name", &Port::name, port_name), required("containerPort", &Port::number, port_number),
    field("protocol", &Port::protocol, protocol)));

constexpr auto ports =
    unique_list_of(kPort, by("name", &Port::name), by("containerPort", &Port::number));

/// A container with the volumes that it declares, until those are the pod's.
struct Declared {
  Container container;
  OamResources required;
};

constexpr auto kContainer = exact_fields<Declared>(
    required_part("name", [](Value at, Declared& out) { return oam_name(at, out.container.name); }),
    required_part("image",
                  [](Value at, Declared& out) { return container_image(at, out.container); }),
    part("resources", [](Value at, Declared& out) { return oam_resources(at, out.required); }),
    part("cmd", of_container(&Container::command, command_line)),
    part("args", of_container(&Container::args, strings)),
    part("env", of_container(&Container::env, env)),
    part("config", of_container(&Container::config_files, config_files)),
    part("ports", of_container(&Container::ports, ports)),
    part("livenessProbe", of_container(&Container::liveness, oam_probe)),
    part("readinessProbe", of_container(&Container::readiness, oam_probe)),
    part_unless_empty<std::string>("imagePullSecret", [](Value at, Declared& out) {
      PullSecret secret{.name = {}, .place = &at.node()};
      if (!nonempty_string(at, secret.name)) return false;
      out.container.pull_secret = std::move(secret);
      return true;
    }));

/// Makes `declared` a volume of the pod. Volumes of one name are one volume if all share it
/// (OAM-35).
void add_volume(Value at, const DeclaredVolume& declared, Pod& pod,
                std::map<std::string, std::size_t>& places) {
  const auto [known, is_new] = places.emplace(declared.volume.name, pod.volumes.size());
  if (is_new) {
    pod.volumes.push_back(declared.volume);
    return;
  }
  Volume* const same = &pod.volumes[known->second];
  const Value place(*declared.place, at.report());
  if (same->exclusive || declared.volume.exclusive)
    return place.problem(
        "the volume \"{}\" is exclusive and used twice, first at {}: give both uses the "
        "sharingPolicy Shared",
        declared.volume.name, bundle::pointer_to(*same->place));
  if (same->kind != declared.volume.kind)
    return place.problem("the volume \"{}\" is ephemeral in one use and not in another, at {}",
                         declared.volume.name, bundle::pointer_to(*same->place));
  same->least_bytes = std::max(same->least_bytes, declared.volume.least_bytes);
}

bool container(Value at, Declared& out) {
  out.container.place = &at.node();
  if (!kContainer(at, out)) return false;
  if (!at.member("resources"))
    at.warning(
        "has no resources, which OAM requires: no CPU and no memory is asked of the machine");
  out.container.resources = out.required.resources;
  out.container.resources.place = out.required.place;
  for (const DeclaredVolume& declared : out.required.volumes)
    out.container.mounts.push_back(declared.mount);
  return true;
}

bool containers(Value at, Pod& out) {
  std::vector<Declared> all;
  if (!are_few_containers(at)) return false;
  const bool good = list_of(container)(at, all);
  if (at.node().is_array() && all.empty()) at.problem("must have at least one container");
  if (at.node().is_array())
    report_twice(at, all, by("name", [](const Declared& item) -> const std::string& {
                   return item.container.name;
                 }));
  std::map<std::string, std::size_t> places;  // of the volumes, by name
  for (Declared& declared : all) {
    for (const DeclaredVolume& volume : declared.required.volumes)
      if (!volume.mount.volume.empty()) add_volume(at, volume, out, places);
    out.containers.push_back(std::move(declared.container));
  }
  return good;
}

/// OAM-5
bool os_type(Value at, Pod& /*out*/) {
  std::string word;
  if (!string(at, word)) return false;
  if (word == "linux") return true;
  at.problem("must be linux, not {}: containers of another system do not run here", found(at));
  return false;
}

/// OAM-6
bool arch(Value at, Pod& /*out*/) {
  const std::string host = Platform::host().architecture;
  std::string word;
  if (!string(at, word)) return false;
  if (word == host) return true;
  at.problem("must be {}, the architecture of this host, not {}", host, found(at));
  return false;
}

struct NamedMetadata : Metadata {
  std::string name;
};

constexpr auto kMetadata =
    exact_fields<NamedMetadata>(field("name", &NamedMetadata::name, oam_name),
                                field("labels", &NamedMetadata::labels, string_map),
                                field("annotations", &NamedMetadata::annotations, string_map))
        .beside(&warn_of_cluster_name);

/// Reads the metadata of a workload or of its component. Does not replace what `pod` has already.
bool read_metadata(Value at, Pod& pod) {
  NamedMetadata metadata;
  if (!kMetadata(at, metadata)) return false;
  if (pod.name.empty()) pod.name = metadata.name;
  keep_metadata(std::move(metadata), pod.metadata);
  return true;
}

bool named_metadata(Value at, Pod& pod) {
  if (!read_metadata(at, pod)) return false;
  if (!pod.name.empty()) return true;
  at.problem_at("name", "is missing, it is required");
  return false;
}

constexpr auto kSpec = exact_fields<Pod>(part_unless_empty<std::string>("osType", os_type),
                                         part_unless_empty<std::string>("arch", arch),
                                         required_part("containers", containers));

template <std::size_t N>
constexpr auto exactly(const char (&wanted)[N]) {
  return [wanted = std::string_view(wanted)](Value at, Pod& /*out*/) {
    std::string word;
    if (!string(at, word)) return false;
    if (word == wanted) return true;
    at.problem("must be {}, not {}", wanted, found(at));
    return false;
  };
}

constexpr auto kWorkloadVersion = exactly("core.oam.dev/v1alpha2");
constexpr std::string_view kByTheCluster = "a cluster sets it";

bool document_kind(Value at, Pod& /*out*/) {
  std::string word;
  if (!string(at, word)) return false;
  if (word == "ContainerizedWorkload") return true;
  at.problem("must be ContainerizedWorkload, Component or ApplicationConfiguration, not {}",
             found(at));
  return false;
}

constexpr auto kDocument = exact_fields<Pod>(
    required_part("apiVersion", kWorkloadVersion), required_part("kind", document_kind),
    required_part("metadata", named_metadata), required_part("spec", kSpec),
    no_effect("status", kByTheCluster));

/// The workload inside a component. It has the component's name unless it has one of its own.
bool inner_workload(Value at, Pod& out) {
  static constexpr auto kTable = exact_fields<Pod>(
      required_part("apiVersion", kWorkloadVersion),
      required_part("kind", exactly("ContainerizedWorkload")), part("metadata", read_metadata),
      required_part("spec", kSpec), no_effect("status", kByTheCluster));
  for (const std::string_view name : {"kind", "type"}) {
    const auto kind = at.member(name);
    if (!kind || kind->node().text == "ContainerizedWorkload") continue;
    kind->problem(
        "must be ContainerizedWorkload, the one workload of a component that is run, not {}",
        found(*kind));
    return false;
  }
  return kTable(at, out);
}

/// Accepts any parameters: oam_application() has read them.
constexpr auto kComponentSpec =
    exact_fields<Pod>(required_part("workload", inner_workload), part("parameters", any_value));

/// Accepts any metadata: read_component() reads them after those of the workload, which take
/// precedence.
constexpr auto kComponent =
    exact_fields<Pod>(required_part("apiVersion", kWorkloadVersion), part("kind", any_value),
                      required_part("metadata", any_value), required_part("spec", kComponentSpec),
                      no_effect("status", kByTheCluster));

void read_component(Value at, Pod& out) {
  kComponent(at, out);
  if (const auto metadata = at.member("metadata")) named_metadata(*metadata, out);
}

}  // namespace

void read_oam(Value at, Pod& out) {
  out.kind = Kind::kOam;
  out.restart = Restart::kAlways;  // "long-running"
  const auto kind = at.member("kind");
  if (kind && kind->node().text == "Component") return read_component(at, out);
  kDocument(at, out);
}

}  // namespace ocirun::pods
