#include <algorithm>
#include <set>

#include "linux/base/letters.hpp"
#include "pods/documents/model/scalars.hpp"
#include "pods/export/kubernetes.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kConfigVolume = "config-files";

/// "ReadWriteMany", …: who may mount the volume at the same time.
std::string_view access_mode(const Pod& pod, const Volume& volume) {
  if (volume.shares_with_all) return "ReadOnlyMany";
  if (!volume.exclusive) return "ReadWriteMany";
  return pod.kind == Kind::kRadius ? "ReadWriteOnce" : "ReadWriteOncePod";
}

/// Whether each pod of a StatefulSet gets the volume from a template of the document.
bool is_of_template(const Volume& volume) {
  return volume.is_claimed && volume.place->parent != nullptr &&
         volume.place->parent->key == "volumeClaimTemplates";
}

/// The claim of a volume in a document of Kubernetes keeps its name. The export copies a claim that
/// the file has.
void plan_own_claim(KubernetesPod& pod, const Volume& volume) {
  Translation& translation = pod.translation;
  const bool is_template = is_of_template(volume);
  const bool stays = !is_template || pod.kind == ExportedKind::kStatefulSet;
  if (!volume.is_claimed || !stays)
    translation.expect(fmt::format("the PersistentVolumeClaim \"{}\"", volume.source));
  if (translation.request().sizes.contains(volume.name))
    translation.lose(volume.place, "", "--size: a claim of Kubernetes has its own size");
  if (volume.exclusive && pod.has_replicas() && !is_template)
    translation.lose(volume.place, "", "{}, and there may be several replicas",
                     volume.exclusive_by);
  pod.claims.emplace(volume.name, VolumeClaim{.name = volume.source,
                                              .spec = translation.new_object(),
                                              .exclusive = volume.exclusive});
}

/// A persistent volume is a claim. With a size, the claim is a part of the output.
void plan_claim(KubernetesPod& pod, const Volume& volume, const std::string& label) {
  Translation& translation = pod.translation;
  const auto& sizes = translation.request().sizes;
  const auto given = sizes.find(volume.name);
  const std::uint64_t bytes = given != sizes.end() ? given->second : volume.least_bytes.value_or(0);
  YamlPart spec = translation.new_object();
  VolumeClaim claim{.name = fmt::format("{}-{}", translation.request().name, label),
                    .spec = spec,
                    .exclusive = volume.exclusive};
  if (bytes != 0) {
    claim.spec.add("accessModes",
                   std::vector<std::string>{std::string(access_mode(translation.pod(), volume))});
    claim.spec.add_object("resources").add_object("requests").add("storage", byte_quantity(bytes));
  } else {
    const std::string id = volume.source == volume.name ? "" : " for " + volume.source;
    translation.expect(fmt::format("the PersistentVolumeClaim \"{}\"{} (--size {}=SIZE writes it)",
                                   claim.name, id, volume.name));
  }
  const bool is_template = pod.kind == ExportedKind::kStatefulSet && bytes != 0;
  if (volume.exclusive && pod.has_replicas() && !is_template)
    translation.lose(volume.place, "",
                     "{}, and there may be several replicas: --kind StatefulSet with a size gives "
                     "each its own volume",
                     volume.exclusive_by);
  pod.claims.emplace(volume.name, std::move(claim));
}

void add_empty_volume(Translation& translation, const Volume& volume, YamlPart& out) {
  YamlPart directory = out.add_object("emptyDir");
  if (volume.in_memory) directory.add("medium", "Memory");
  if (volume.most_bytes) directory.add("sizeLimit", byte_quantity(*volume.most_bytes));
  // Only an App Container asks for a mode and an owner; a volume of Kubernetes is open to all.
  if (translation.pod().kind == Kind::kAppc) lose_owner(translation, volume, 0777);
}

/// A secret or a config map.
void add_key_volume(Translation& translation, const Volume& volume, YamlPart& out) {
  const bool is_config_map = volume.source.starts_with(kConfigMapPrefix);
  YamlPart keys = out.add_object(is_config_map ? "configMap" : "secret");
  keys.add(is_config_map ? "name" : "secretName",
           kubernetes_secret_name(translation, volume.place, volume.source));
  if (volume.items) {
    YamlPart items = keys.add_list("items");
    for (const KeyFile& file : *volume.items) {
      YamlPart item = items.add_object();
      item.add("key", file.key);
      item.add("path", file.path);
      if (file.mode) item.add("mode", static_cast<std::uint64_t>(*file.mode));
    }
  }
  if (volume.file_mode) keys.add("defaultMode", static_cast<std::uint64_t>(*volume.file_mode));
  if (volume.is_optional) keys.add("optional", true);
}

void add_host_volume(Translation& translation, const Volume& volume, YamlPart& out) {
  YamlPart directory = out.add_object("hostPath");
  directory.add("path", volume.source);
  if (translation.pod().kubernetes)
    directory.add_unless_empty("type", text_of_member(*volume.place->find("hostPath"), "type"));
  if (!volume.recursive)
    translation.lose(volume.place, "recursive", "a directory of the host comes with its mounts");
}

void add_volume(const KubernetesPod& pod, const Volume& volume, YamlPart& list) {
  const auto claim = pod.claims.find(volume.name);
  const bool is_claim = claim != pod.claims.end();
  if (is_claim && pod.kind == ExportedKind::kStatefulSet && !claim->second.spec.empty())
    return;  // a template of the StatefulSet gives it
  if (is_of_template(volume) && pod.kind == ExportedKind::kStatefulSet) return;
  if (pod.translation.has_copied_parts(volume.place))
    return list.add("", pod.translation.copy_of(*volume.place));
  YamlPart out = list.add_object();
  out.add("name", pod.volume_names.at(volume.name));
  switch (volume.kind) {
    case Volume::Source::kEmpty:
      return add_empty_volume(pod.translation, volume, out);
    case Volume::Source::kHost:
      return add_host_volume(pod.translation, volume, out);
    case Volume::Source::kSecret:
      return add_key_volume(pod.translation, volume, out);
    case Volume::Source::kOperator:
      break;
  }
  YamlPart reference = out.add_object("persistentVolumeClaim");
  reference.add("claimName", claim->second.name);
  if (volume.read_only) reference.add("readOnly", true);
}

}  // namespace

void plan_volumes(KubernetesPod& pod) {
  std::map<std::string_view, const Container*> first_users;
  for (const Container* container : all_containers(pod.translation.pod()))
    for (const Mount& mount : container->mounts) first_users.emplace(mount.volume, container);
  std::set<std::string> used;
  if (!pod.translation.pod().kubernetes) used.emplace(kConfigVolume);  // for plan_config_files()
  for (const Volume& volume : exported_volumes(pod.translation.pod())) {
    const std::string label = unique_name(as_dns_label(volume.name), used);
    pod.volume_names[volume.name] = label;
    if (volume.kind == Volume::Source::kOperator)
      pod.translation.pod().kubernetes ? plan_own_claim(pod, volume)
                                       : plan_claim(pod, volume, label);
    const auto user = first_users.find(volume.name);
    if (volume.kind == Volume::Source::kEmpty && volume.least_bytes && user != first_users.end())
      pod.ephemeral_bytes[user->second] += *volume.least_bytes;
  }
}

void plan_config_files(KubernetesPod& pod) {
  constexpr std::size_t kMostBytes = 1'048'576;  // of a ConfigMap
  std::size_t bytes = 0;
  for (const Container* container : all_containers(pod.translation.pod()))
    for (const ConfigFile& file : container->config_files) {
      std::string key = as_dns_label(container->name) + ".";
      for (const char c : file.path.substr(file.path.rfind('/') + 1)) {
        const bool is_good = linux::is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
        key += is_good ? c : '_';
      }
      key.resize(std::min<std::size_t>(key.size(), 200));
      if (pod.config_files.contains(key)) key += fmt::format(".{}", pod.config_files.size());
      const std::string content = exported_content(pod.translation, file);
      bytes += content.size();
      if (bytes > kMostBytes)
        pod.translation.lose(file.place, "",
                             "the config files have more than the {} bytes of a ConfigMap",
                             kMostBytes);
      pod.config_files.emplace(key, content);
      pod.config_keys.emplace(&file, std::move(key));
    }
}

YamlPart kubernetes_volumes(const KubernetesPod& pod) {
  YamlPart list = pod.translation.new_object().new_list();
  for (const Volume& volume : exported_volumes(pod.translation.pod()))
    add_volume(pod, volume, list);
  if (pod.config_files.empty()) return list;
  YamlPart files = list.add_object();
  files.add("name", kConfigVolume);
  files.add_object("configMap").add("name", pod.config_map());
  return list;
}

YamlPart kubernetes_mounts(const KubernetesPod& pod, const Container& container) {
  YamlPart list = pod.translation.new_object().new_list();
  const auto add = [&](std::string_view name, const std::string& path, bool read_only) {
    YamlPart mount = list.add_object();
    mount.add("name", name);
    mount.add("mountPath", path);
    if (read_only) mount.add("readOnly", true);
    return mount;
  };
  for (const Mount& mount : container.mounts) {
    YamlPart entry =
        add(pod.volume_names.at(mount.volume), mount.path, is_read_only(container, mount));
    entry.add_unless_empty("subPath", mount.sub_path);
    if (mount.place != nullptr) pod.translation.copy_parts(*mount.place, entry);
  }
  for (const MountPoint& point : container.mount_points)
    if (!is_mounted(container, point))
      add(pod.volume_names.at(point.name), point.path, point.read_only);
  for (const ConfigFile& file : container.config_files)
    add(kConfigVolume, file.path, true).add("subPath", pod.config_keys.at(&file));
  return list;
}

}  // namespace ocirun::pods
