#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "linux/base/name_table.hpp"
#include "pods/documents/appc/types.hpp"

namespace ocirun::pods {
namespace {

constexpr auto kVariable = [](Value at, EnvVariable& out) {
  static constexpr auto kTable = placed(
      exact_fields<EnvVariable>(required("name", &EnvVariable::name, nonempty_string),
                                required_part("value", [](Value value, EnvVariable& variable) {
                                  return string(value, variable.value.emplace<std::string>());
                                })));
  if (!kTable(at, out)) return false;
  if (!out.name.contains('=')) return true;
  at.problem_at("name", "must not contain \"=\"");
  return false;
};

constexpr auto environment = unique_list_of(kVariable, by("name", &EnvVariable::name));

constexpr auto kMountPoint =
    placed(exact_fields<MountPoint>(required("name", &MountPoint::name, ac_name),
                                    required("path", &MountPoint::path, path_below_root),
                                    field("readOnly", &MountPoint::read_only, boolean)));

constexpr auto mount_points =
    unique_list_of(kMountPoint, by("name", &MountPoint::name), by("path", &MountPoint::path));

constexpr auto ports = unique_list_of(ac_port, by("name", &Port::name));

/// A user or a group of the app: a number, or a name in /etc/passwd or /etc/group of the image.
bool account(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  const bool is_path = out.starts_with('/');
  if (!is_path && !out.starts_with('-') && !out.contains(':')) return true;
  at.problem("must be a number or a name, not {}{}", found(at),
             is_path ? ": the owner of a file is not looked up" : "");
  return false;
}

constexpr auto user_strings = [](Value at, auto& /*out*/) {  // AC-21: must not affect the runtime
  std::map<std::string, std::string> ignored;
  return string_map(at, ignored);
};

/// AC-7: replaces the app object of the image.
constexpr auto kApp = exact_fields<Container>(
    required("exec", &Container::command, command_line),
    required("user", &Container::user, account), required("group", &Container::group, account),
    field("supplementaryGIDs", &Container::extra_groups, extra_groups),
    field("workingDirectory", &Container::working_directory, container_path),
    field("environment", &Container::env, environment),
    field("mountPoints", &Container::mount_points, mount_points),
    field("ports", &Container::ports, ports), part("isolators", app_isolators),
    part("eventHandlers",
         [](Value at, Container&) {
           if (at.node().is_array() && at.node().first == nullptr) return true;
           at.problem("is not supported: no hook of the runtime runs where these have to run");
           return false;
         }),
    part("userAnnotations", user_strings), part("userLabels", user_strings));

struct Label {
  std::string name, value;
};
constexpr auto kLabel = exact_fields<Label>(required("name", &Label::name, ac_identifier),
                                            required("value", &Label::value, string));

/// AC-5, AC-6. An incomplete id is no problem here, because --image may give the image by its name.
constexpr auto kImage = exact_fields<Container>(
    required_part("id",
                  [](Value at, Container& out) {
                    out.image_place = &at.node();
                    return nonempty_string(at, out.image);
                  }),
    field("name", &Container::image_name, ac_identifier),
    part("labels", [](Value at, Container& out) {
      std::vector<Label> labels;
      if (!list_of(kLabel)(at, labels)) return false;
      report_twice(at, labels, by("name", &Label::name));
      for (Label& label : labels)
        out.image_labels.emplace(std::move(label.name), std::move(label.value));
      return true;
    }));

constexpr linux::Named<Volume::Source> kVolumeKinds[] = {{"empty", Volume::Source::kEmpty},
                                                         {"host", Volume::Source::kHost}};

bool host_path(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (out.starts_with('/') && !has_dot_dot(out)) return true;
  at.problem("must be an absolute path without \"..\", not {}", found(at));
  return false;
}

/// AC-13 … AC-17
bool volume(Value at, Volume& out) {
  static constexpr auto kTable = placed(exact_fields<Volume>(
      required("name", &Volume::name, ac_name),
      required("kind", &Volume::kind, word_of<kVolumeKinds>("kind of volume")),
      field("source", &Volume::source, host_path), field("readOnly", &Volume::read_only, boolean),
      field("recursive", &Volume::recursive, boolean), field("mode", &Volume::mode, mode_text),
      field("uid", &Volume::uid, user_id), field("gid", &Volume::gid, group_id)));
  if (!kTable(at, out)) return false;
  const bool host = out.kind == Volume::Source::kHost;
  for (const std::string_view name : {"mode", "uid", "gid"})
    if (const auto member = at.member(name); member && host)
      member->warning("has no effect: only a volume of the kind empty has it");
  for (const std::string_view name : {"source", "recursive"})
    if (const auto member = at.member(name); member && !host)
      member->warning("has no effect: only a volume of the kind host has it");
  if (host && out.source.empty()) at.problem_at("source", "is missing, the kind host needs it");
  return !host || !out.source.empty();
}

/// An app while it is read, with the volumes that its mounts bring along (AC-11).
struct App {
  Container container;
  std::vector<Volume> volumes;
};

/// Adds the appVolume of a mount as a volume with the name "APP/NAME#NUMBER", which no volume of
/// the document can have. app() adds the name of the app.
bool mount(Value at, App& out) {
  static constexpr auto kMount = placed(exact_fields<Mount>(
      required("volume", &Mount::volume, ac_name), required("path", &Mount::path, path_below_root),
      part("appVolume", any_value)));
  Mount& item = out.container.mounts.emplace_back();
  const bool good = kMount(at, item);
  const auto own = at.member("appVolume");
  if (good && !own) return true;
  item.volume.clear();  // so that no volume of the document is looked for
  if (!good) return false;
  Volume& added = out.volumes.emplace_back();
  if (!volume(*own, added)) return false;
  added.name = fmt::format("{}#{}", added.name, out.container.mounts.size());
  item.volume = added.name;
  return true;
}

bool mounts(Value at, App& out) {
  if (!at.expect_list()) return false;
  bool good = true;
  for (const Value item : at) good &= mount(item, out);
  if (good) report_twice(at, out.container.mounts, by("path", &Mount::path));
  return good;
}

constexpr auto kApps = exact_fields<App>(
    required_part("name", [](Value at, App& out) { return ac_name(at, out.container.name); }),
    required_part("image", [](Value at, App& out) { return kImage(at, out.container); }),
    part("app", [](Value at, App& out) { return kApp(at, out.container); }),
    part("readOnlyRootFS",
         [](Value at, App& out) { return boolean(at, out.container.read_only_root); }),
    part("mounts", [](Value at, App& out) { return mounts(at, out); }),
    part("annotations",
         [](Value at, App& out) { return ac_annotations(at, out.container.annotations); }));

bool app(Value at, App& out) {
  out.container.place = &at.node();
  const bool good = kApps(at, out);
  // Here the name of the app has been read, wherever it stands.
  for (Volume& added : out.volumes) added.name.insert(0, out.container.name + "/");
  for (Mount& item : out.container.mounts)
    if (item.volume.contains('#')) item.volume.insert(0, out.container.name + "/");
  return good;
}

bool apps(Value at, Pod& out) {
  std::vector<App> all;
  if (!are_few_containers(at) || !list_of(app)(at, all)) return false;
  if (all.empty()) at.problem("must have at least one app");
  report_twice(at, all, by("name", [](const App& item) -> const std::string& {
                 return item.container.name;
               }));
  std::set<std::string> port_names;
  for (App& item : all) {
    for (const Port& port : item.container.ports) {
      if (!port_names.insert(port.name).second)
        Value(*port.place, at.report())
            .problem_at(
                "name",
                "\"{}\" is the name of a port of another app: names must be unique in a pod",
                port.name);
    }
    std::ranges::move(item.volumes, std::back_inserter(out.volumes));
    out.containers.push_back(std::move(item.container));
  }
  return true;
}

/// AC-20
constexpr auto kHostPort =
    placed(exact_fields<HostPort>(required("name", &HostPort::name, ac_name),
                                  required("hostPort", &HostPort::number, port_number),
                                  field("hostIP", &HostPort::address, dotted_quad),
                                  field("podPort", &HostPort::pod_port, ac_port)));

constexpr auto host_ports = unique_list_of(
    kHostPort, by("name", &HostPort::name),
    by("hostPort", [](const HostPort& port) { return std::pair(port.number, port.address); }));

bool kind(Value at, Pod& /*out*/) {
  std::string word;
  if (!string(at, word)) return false;
  if (word == "PodManifest") return true;
  at.problem("must be PodManifest, not {}", found(at));
  return false;
}

bool annotations(Value at, Pod& out) {
  if (!ac_annotations(at, out.metadata.annotations)) return false;
  if (out.metadata.annotations.contains("appc.ip-address"))
    at.warning("ip-address has no effect: the address of a pod is chosen by its network");
  return true;
}

bool volumes(Value at, Pod& out) {
  std::vector<Volume> listed;
  if (!list_of(volume)(at, listed)) return false;
  report_twice(at, listed, by("name", &Volume::name));
  std::ranges::move(listed, std::back_inserter(out.volumes));
  return true;
}

constexpr auto kManifest = exact_fields<Pod>(
    required_part("acVersion",
                  [](Value at, Pod&) {
                    std::string version;
                    return ac_version(at, version);
                  }),
    required_part("acKind", kind), required_part("apps", apps), part("volumes", volumes),
    part("isolators",
         [](Value at, Pod& out) {
           out.limits_place = &at.node();
           return pod_isolators(at, out.limits);
         }),
    part("annotations", annotations), field("ports", &Pod::host_ports, host_ports),
    part("userAnnotations", user_strings), part("userLabels", user_strings));

/// AC-10: each mount needs its volume. A volume that is read-only is so in each mount (AC-13).
void check_mounts(Value manifest, Pod& pod) {
  const NamesOf listed(manifest.member("volumes"));
  std::map<std::string_view, bool> read_only;
  for (const Volume& volume : pod.volumes) read_only.emplace(volume.name, volume.read_only);
  for (Container& container : pod.containers)
    for (Mount& item : container.mounts) {
      if (item.volume.empty()) continue;  // a problem already
      if (const auto volume = read_only.find(item.volume); volume != read_only.end())
        item.read_only = volume->second;
      else if (!listed.may_have(item.volume))
        Value(*item.place, manifest.report())
            .problem_at("volume", "\"{}\" is none of the volumes", item.volume);
    }
}

/// AC-20: warns of a host's port without podPort that no app lists.
void check_ports(Value manifest, const Pod& pod) {
  std::set<std::string_view> listed;
  bool is_faulty = false;
  for (const Container& container : pod.containers) {
    for (const Port& port : container.ports) listed.insert(port.name);
    if (const auto own = Value(*container.place, manifest.report()).member("app"))
      is_faulty |= NamesOf(own->member("ports")).is_faulty();
  }
  const auto may_be_listed = [&](std::string_view name) {
    return is_faulty || listed.contains(name);
  };
  for (const HostPort& port : pod.host_ports)
    if (!port.pod_port && !port.name.empty() && !may_be_listed(port.name))
      Value(*port.place, manifest.report())
          .warning("no app lists a port \"{}\": only an image may have it", port.name);
}

}  // namespace

void read_appc(Value at, Pod& out) {
  out.kind = Kind::kAppc;
  out.restart = Restart::kNever;
  out.shares_pids = true;
  kManifest(at, out);
  check_mounts(at, out);
  check_ports(at, out);
}

}  // namespace ocirun::pods
