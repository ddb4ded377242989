#include "pods/metadata/manifest.hpp"

#include <algorithm>

#include "bundle/json/writer.hpp"
#include "linux/base/paths.hpp"
#include "pods/metadata/named_values.hpp"

namespace ocirun::pods {
namespace {

using bundle::JsonWriter;

/// Annotations with their names in the document, without the prefix "appc." of the reader.
Annotations ac_names(const std::map<std::string, std::string>& annotations) {
  constexpr std::string_view kPrefix = "appc.";
  Annotations named;
  for (const auto& [name, value] : annotations)
    if (name.starts_with(kPrefix)) named.emplace(name.substr(kPrefix.size()), value);
  return named;
}

/// Copies the member of the document, if it is there.
void copy_member(const bundle::Node* object, std::string_view key, JsonWriter& out) {
  if (object == nullptr) return;
  if (const bundle::Node* member = object->find(key)) out.member(key, *member);
}

void write_port(const Port& port, JsonWriter& out) {
  out.begin_object().member("name", port.name).member("port", port.number);
  out.member("protocol", lower_name_of(port.protocol)).end_object();
}

void write_volume(const Volume& volume, const std::string& name, const Reified& reified,
                  JsonWriter& out) {
  const auto given = std::ranges::find(reified.volumes, volume.name, &GivenVolume::name);
  const bool is_given = given != reified.volumes.end();
  const bool read_only = volume.read_only || (is_given && given->read_only);
  out.begin_object().member("name", name).member("readOnly", read_only);
  if (is_given || volume.kind == Volume::Source::kHost) {
    out.member("kind", "host").member("source", is_given ? given->directory : volume.source);
    out.member("recursive", volume.recursive);
  } else {
    out.member("kind", "empty").member("mode", fmt::format("{:04o}", volume.mode));
    out.member("uid", volume.uid.value()).member("gid", volume.gid.value());
  }
  out.end_object();
}

/// The name of a volume in the document. For an appVolume of a mount, the reader has made
/// "APP/NAME#NUMBER" of NAME.
std::string_view written_name(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);
  return name.substr(0, name.find('#'));
}

bool is_of_mount(const Volume& volume) { return volume.name.contains('/'); }

/// The mounts of the document, and those of mount points that the operator has given a directory.
void write_mounts(const Pod& pod, const Container& container, const Reified& reified,
                  JsonWriter& out) {
  out.key("mounts").begin_array();
  for (const Mount& mount : container.mounts) {
    out.begin_object().member("volume", written_name(mount.volume)).member("path", mount.path);
    const auto volume = std::ranges::find(pod.volumes, mount.volume, &Volume::name);
    if (volume != pod.volumes.end() && is_of_mount(*volume)) {
      out.key("appVolume");
      write_volume(*volume, std::string(written_name(volume->name)), reified, out);
    }
    out.end_object();
  }
  for (const MountPoint& point : container.mount_points) {
    const bool is_mounted =
        std::ranges::find(container.mounts, point.path, &Mount::path) != container.mounts.end();
    const auto given = std::ranges::find(reified.volumes, point.name, &GivenVolume::name);
    if (!is_mounted && given != reified.volumes.end())
      out.begin_object().member("volume", point.name).member("path", point.path).end_object();
  }
  out.end_array();
}

void write_app(const ReifiedApp& app, JsonWriter& out) {
  const Container& container = *app.container;
  const Launch& launch = *app.launch;
  // Leaves out the URL of the service, whose token must stay secret.
  std::vector<std::string> env;
  for (const std::string& entry : launch.env)
    if (!entry.starts_with("AC_METADATA_URL=")) env.push_back(entry);
  out.key("app").begin_object().member("exec", launch.args);
  out.member("user", fmt::format("{}", launch.account.uid.value()));
  out.member("group", fmt::format("{}", launch.account.gid.value()));
  out.key("supplementaryGIDs").begin_array();
  for (const Gid gid : launch.account.additional_gids) out.value(gid.value());
  out.end_array().member("workingDirectory", launch.cwd);
  write_environment(env, out);
  out.key("mountPoints").begin_array();
  for (const MountPoint& point : container.mount_points)
    out.begin_object()
        .member("name", point.name)
        .member("path", point.path)
        .member("readOnly", point.read_only)
        .end_object();
  out.end_array().key("ports").begin_array();
  for (const Port& port : container.ports) write_port(port, out);
  out.end_array();
  const bundle::Node* written = container.place == nullptr ? nullptr : container.place->find("app");
  for (const std::string_view key : {"isolators", "userAnnotations", "userLabels"})
    copy_member(written, key, out);
  out.end_object();
}

void write_apps(const Pod& pod, const Reified& reified, JsonWriter& out) {
  out.key("apps").begin_array();
  for (const ReifiedApp& app : reified.apps) {
    const Container& container = *app.container;
    out.begin_object().member("name", container.name).key("image").begin_object();
    if (!container.image_name.empty()) out.member("name", container.image_name);
    out.member("id", image_id(app.image_digest));
    write_named_values("labels", Annotations(container.image_labels), out);
    out.end_object();
    write_app(app, out);
    out.member("readOnlyRootFS", container.read_only_root);
    write_mounts(pod, container, reified, out);
    write_named_values("annotations", ac_names(container.annotations), out);
    out.end_object();
  }
  out.end_array();
}

void write_volumes(const Pod& pod, const Reified& reified, JsonWriter& out) {
  out.key("volumes").begin_array();
  for (const Volume& volume : pod.volumes)
    if (!is_of_mount(volume)) write_volume(volume, volume.name, reified, out);
  for (const GivenVolume& given : reified.volumes)
    if (std::ranges::find(pod.volumes, given.name, &Volume::name) == pod.volumes.end())
      out.begin_object()
          .member("name", given.name)
          .member("readOnly", given.read_only)
          .member("kind", "host")
          .member("source", given.directory)
          .member("recursive", true)
          .end_object();
  out.end_array();
}

void write_host_port(std::string_view name, std::uint16_t number, std::string_view address,
                     const Port* pod_port, JsonWriter& out) {
  out.begin_object().member("name", name).member("hostPort", number);
  if (!address.empty()) out.member("hostIP", address);
  if (pod_port != nullptr) {
    out.key("podPort");
    write_port(*pod_port, out);
  }
  out.end_object();
}

/// Each port of the host with the port of the pod that it leads to.
void write_ports(const Pod& pod, JsonWriter& out) {
  std::vector<const Port*> of_apps;
  for (const Container& container : pod.containers)
    for (const Port& port : container.ports) of_apps.push_back(&port);
  out.key("ports").begin_array();
  for (const HostPort& host : pod.host_ports) {
    const auto named = std::ranges::find(of_apps, host.name, &Port::name);
    const Port* pod_port = host.pod_port            ? &*host.pod_port
                           : named != of_apps.end() ? *named
                                                    : nullptr;
    write_host_port(host.name, host.number, host.address, pod_port, out);
  }
  out.end_array();
}

std::string list_text(const Annotations& annotations) {
  JsonWriter out(JsonWriter::Layout::kOneLine);
  write_named_values(annotations, out);
  return std::move(out).take();
}

/// Annotations of the image that the document does not replace, and those of the document.
Annotations app_annotations(const ReifiedApp& app) {
  Annotations merged = ac_names(app.container->annotations);
  merged.merge(image_annotations(*app.image));
  return merged;
}

std::string ac_version_of(const Workload& workload) {
  const bundle::Node* version = workload.source->root()->find("acVersion");
  return version == nullptr ? "" : std::string(version->text);
}

}  // namespace

std::string image_id(const Digest& digest) {
  return fmt::format("{}-{}", digest.algorithm_name(), digest.hex());
}

std::string pod_manifest(const Workload& workload, const Reified& reified) {
  const Pod& pod = workload.pod;
  const bundle::Node* written = workload.source->root();
  JsonWriter out(JsonWriter::Layout::kOneLine);
  out.begin_object().member("acVersion", ac_version_of(workload)).member("acKind", "PodManifest");
  write_apps(pod, reified, out);
  write_volumes(pod, reified, out);
  copy_member(written, "isolators", out);
  write_named_values("annotations", ac_names(bundle_annotations(pod)), out);
  write_ports(pod, out);
  for (const std::string_view key : {"userAnnotations", "userLabels"})
    copy_member(written, key, out);
  out.end_object();
  return std::move(out).take();
}

std::vector<Resource> resources_of(const Workload& workload, const Reified& reified,
                                   const std::string& uuid) {
  constexpr const char* kText = "text/plain; charset=us-ascii";
  constexpr const char* kJson = "application/json";
  std::vector<Resource> resources{
      {"pod/annotations", kJson, list_text(ac_names(bundle_annotations(workload.pod)))},
      {"pod/manifest", kJson, pod_manifest(workload, reified)},
      {"pod/uuid", kText, uuid}};
  for (const ReifiedApp& app : reified.apps) {
    const std::string below = fmt::format("apps/{}/", app.container->name);
    resources.push_back({below + "annotations", kJson, list_text(app_annotations(app))});
    resources.push_back(
        {below + "image/manifest", kJson, image_manifest(app, ac_version_of(workload))});
    resources.push_back({below + "image/id", kText, image_id(app.image_digest)});
  }
  return resources;
}

Result<void> check_metadata(const Workload& workload) {
  if (workload.pod.kind != Kind::kAppc)
    return refuse(
        "--metadata: only an App Container pod has a metadata service, not a document of the kind "
        "{}",
        shown_kind(workload.pod));
  for (const Container& container : workload.pod.containers)
    for (const EnvVariable& variable : container.env)
      if (variable.name == "AC_METADATA_URL")
        return refuse(
            "{}: AC_METADATA_URL must not be set by the document: --metadata sets it to the "
            "address "
            "of the pod's metadata service",
            workload.at(variable.place));
  return {};
}

Result<Reified> reify(std::span<const ReadyContainer> containers,
                      const std::map<const Container*, StoredImage>& images, const Given& given) {
  Reified reified;
  for (const ReadyContainer& ready : containers) {
    const StoredImage& image = images.at(ready.container);
    reified.apps.push_back({.container = ready.container,
                            .launch = &ready.launch,
                            .image = &image.config,
                            .image_digest = image.digest});
  }
  for (const auto& [name, binding] : given.volumes) {
    OCIRUN_TRY_ASSIGN(const HostPath directory, linux::absolute_path(binding.directory.string()));
    reified.volumes.push_back(
        {.name = name, .directory = directory.string(), .read_only = binding.read_only});
  }
  return reified;
}

}  // namespace ocirun::pods
