#include <sys/utsname.h>

#include <algorithm>

#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"
#include "pods/documents/oam_resources.hpp"
#include "pods/documents/probe.hpp"
#include "pods/documents/readers.hpp"
#include "pods/documents/scalars.hpp"
#include "pods/images/platform.hpp"

namespace ocirun::pods {
namespace {

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

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

bool variable_value(Value at, std::variant<std::string, SecretKey>& out) {
  return string(at, out.emplace<std::string>());
}

constexpr auto kEnv =
    placed(exact_fields<EnvVariable>(required("name", &EnvVariable::name, variable_name),
                                     field("value", &EnvVariable::value, variable_value)));

constexpr auto env = unique_list_of(kEnv, by("name", &EnvVariable::name));

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

constexpr auto kConfigFile = bundle::checked(
    placed(exact_fields<ConfigFile>(required("path", &ConfigFile::path, config_path),
                                    field("value", &ConfigFile::value, string),
                                    field("fromParam", &ConfigFile::parameter, nonempty_string))),
    [](Value at, const ConfigFile& file) {
      if (!file.value && !file.parameter)
        at.problem("must have value or fromParam: it has neither");
    });

constexpr auto config_files = unique_list_of(kConfigFile, by("path", &ConfigFile::path));

/// OAM-17
bool port_name(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (std::ranges::all_of(out, [](char c) { return c >= 'a' && c <= 'z'; })) return true;
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

template <typename Member, typename Reader>
constexpr auto of_container(Member Container::* member, Reader reader) {
  return [=](Value at, Declared& out) { return reader(at, out.container.*member); };
}
template <typename Member, typename Reader>
constexpr auto of_container(std::optional<Member> Container::* member, Reader reader) {
  return [=](Value at, Declared& out) { return reader(at, (out.container.*member).emplace()); };
}

constexpr auto kContainer = exact_fields<Declared>(
    required_part("name", of_container(&Container::name, oam_name)),
    required_part("image",
                  [](Value at, Declared& out) {
                    out.container.image_place = &at.node();
                    return image_reference(at, out.container.image);
                  }),
    required_part("resources",
                  [](Value at, Declared& out) { return oam_resources(at, out.required); }),
    part("cmd", of_container(&Container::command, command_line)),
    part("args", of_container(&Container::args, strings)),
    part("env", of_container(&Container::env, env)),
    part("config", of_container(&Container::config_files, config_files)),
    part("ports", of_container(&Container::ports, ports)),
    part("livenessProbe", of_container(&Container::liveness, oam_probe)),
    part("readinessProbe", of_container(&Container::readiness, oam_probe)),
    part("imagePullSecret", [](Value at, Declared&) {
      std::string name;
      if (!nonempty_string(at, name)) return false;
      at.warning("has no effect: {}", kNothingIsFetched);
      return true;
    }));

/// Makes `declared` a volume of the pod. Volumes of one name are one volume if all share it
/// (OAM-35).
void add_volume(Value at, const DeclaredVolume& declared, Pod& pod) {
  const auto same = std::ranges::find(pod.volumes, declared.volume.name, &Volume::name);
  if (same == pod.volumes.end()) {
    pod.volumes.push_back(declared.volume);
    return;
  }
  const Value place(*declared.place, at.report());
  if (same->exclusive || declared.volume.exclusive)
    return place.problem(
        "the volume \"{}\" is exclusive and used twice, first at {}: give both uses the "
        "sharingPolicy "
        "Shared",
        declared.volume.name, bundle::pointer_to(*same->place));
  if (same->kind != declared.volume.kind)
    return place.problem("the volume \"{}\" is ephemeral in one use and not in another, at {}",
                         declared.volume.name, bundle::pointer_to(*same->place));
  same->least_bytes = std::max(same->least_bytes, declared.volume.least_bytes);
}

bool container(Value at, Declared& out) {
  out.container.place = &at.node();
  if (!kContainer(at, out)) return false;
  out.container.resources = out.required.resources;
  out.container.resources.place = out.required.place;
  for (const DeclaredVolume& declared : out.required.volumes)
    out.container.mounts.push_back(declared.mount);
  return true;
}

bool containers(Value at, Pod& out) {
  std::vector<Declared> all;
  const bool good = list_of(container)(at, all);
  if (at.node().is_array() && all.empty()) at.problem("must have at least one container");
  if (at.node().is_array())
    report_twice(at, all, by("name", [](const Declared& item) -> const std::string& {
                   return item.container.name;
                 }));
  for (Declared& declared : all) {
    for (const DeclaredVolume& volume : declared.required.volumes)
      if (!volume.mount.volume.empty()) add_volume(at, volume, out);
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

constexpr auto kMetadata = exact_fields<Pod>(
    required("name", &Pod::name, oam_name),
    part("labels", [](Value at, Pod& out) { return string_map(at, out.annotations); }),
    part("annotations", [](Value at, Pod& out) { return string_map(at, out.annotations); }));

constexpr auto kSpec = exact_fields<Pod>(part("osType", os_type), part("arch", arch),
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

constexpr auto kDocument =
    exact_fields<Pod>(required_part("apiVersion", exactly("core.oam.dev/v1alpha2")),
                      required_part("kind", exactly("ContainerizedWorkload")),
                      required_part("metadata", kMetadata), required_part("spec", kSpec));

}  // namespace

void read_oam(Value at, Pod& out) {
  out.kind = Kind::kOam;
  out.restart = Restart::kAlways;  // "long-running"
  kDocument(at, out);
}

}  // namespace ocirun::pods
