#include <algorithm>

#include "pods/export/swarm.hpp"

namespace ocirun::pods {
namespace {

/// An empty volume of a task goes with the task.
void add_anonymous(SwarmStack& stack, const Container& container, const Volume& volume,
                   const std::string& path, YamlPart& entry) {
  Translation& translation = stack.translation;
  if (volume.in_memory) {
    if (volume.most_bytes) entry.add_object("tmpfs").add("size", *volume.most_bytes);
    return;
  }
  if (volume.most_bytes)
    translation.lose(volume.place, "emptyDir/sizeLimit",
                     "a volume of Docker has no limit, such as {} bytes", *volume.most_bytes);
  if (volume.least_bytes)
    translation.expect(fmt::format("{} free on each node, for the volume \"{}\"",
                                   compose_bytes(*volume.least_bytes), volume.name));
  const bool is_open = volume.mode == 0777 && translation.pod().kind != Kind::kAppc;
  if (is_open && container.user != "0")
    translation.expect(
        fmt::format("the directory {} in the image of \"{}\", with an owner who may write: an "
                    "empty volume gets this owner, else it is root's alone",
                    path, container.name));
  // With nocopy the volume is root's, and the files that the image has at its path stay out.
  if (!is_open) entry.add_object("volume").add("nocopy", true);
  if (!is_open) lose_owner(translation, volume, 0755);
}

/// A persistent volume is one of a node. All tasks that mount the volume run on the node.
void add_persistent(SwarmStack& stack, const Volume& volume, YamlPart& entry) {
  Translation& translation = stack.translation;
  const std::string& name = stack.volume_names.at(volume.name);
  entry.add("source", name);
  if (!stack.volumes.has(name)) stack.volumes.add_object(name);
  const auto& replicas = translation.pod().replicas;
  if (volume.exclusive && replicas && replicas->count > 1)
    translation.lose(volume.place, "", "{}, and there may be several replicas",
                     volume.exclusive_by);
  const std::string space =
      volume.least_bytes ? ", with " + compose_bytes(*volume.least_bytes) + " free" : "";
  const std::string of = volume.source == volume.name ? "" : fmt::format(" ({})", volume.source);
  translation.expect(
      fmt::format("the label {}=true on one node, which keeps the volume \"{}\"{}{} (docker node "
                  "update --label-add {}=true NODE)",
                  stack.volume_label(), name, of, space, stack.volume_label()));
}

/// Adds a directory of each node, or another file, which must be there: a service does not make it.
void add_host_path(Translation& translation, const Volume& volume, YamlPart& entry) {
  entry.add("source", without_templates(volume.source));
  const HostType type = volume.host_type;
  const bool is_device = type == HostType::kCharDevice || type == HostType::kBlockDevice;
  const bool is_file = type == HostType::kFile || type == HostType::kFileOrCreate;
  translation.expect(fmt::format("the {} {} on each node",
                                 is_device                   ? "device"
                                 : is_file                   ? "file"
                                 : type == HostType::kSocket ? "socket"
                                                             : "directory",
                                 volume.source));
  if (is_device)
    translation.lose(volume.place, "hostPath/type",
                     "the containers of a service may not open devices of the host");
  if (!volume.recursive)
    translation.lose(volume.place, "recursive", "a directory of the host comes with its mounts");
}

void add_service_volume(SwarmStack& stack, const Container& container, const Volume& volume,
                        const Mount& mount, bool is_read_only, YamlPart& list) {
  using Source = Volume::Source;
  YamlPart entry = list.add_object();
  entry.add("type", volume.kind == Source::kHost                        ? "bind"
                    : volume.kind == Source::kEmpty && volume.in_memory ? "tmpfs"
                                                                        : "volume");
  if (volume.kind == Source::kHost) add_host_path(stack.translation, volume, entry);
  if (volume.kind == Source::kOperator) add_persistent(stack, volume, entry);
  entry.add("target", without_templates(mount.path));
  if (volume.read_only || is_read_only) entry.add("read_only", true);
  if (volume.kind == Source::kEmpty) add_anonymous(stack, container, volume, mount.path, entry);
  if (!mount.sub_path.empty())
    stack.translation.lose(mount.place, "subPath", "a service mounts a whole volume, not \"{}\"",
                           mount.sub_path);
}

/// Loses the sharing of an empty volume, by which containers of a pod give files to each other.
void lose_sharing(Translation& translation, const Container& container, const Volume& volume) {
  if (volume.kind != Volume::Source::kEmpty) return;
  for (const Container& other : translation.pod().containers)
    if (&other == &container)
      return;
    else if (uses_volume(other, volume.name))
      return translation.lose(volume.place, "",
                              "each container has an empty volume of its own: they share none");
}

}  // namespace

std::string compose_bytes(std::uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {"b", "K", "M", "G", "T", "P"};
  return in_largest_unit(bytes, kUnits);
}

Result<void> add_swarm_mounts(SwarmStack& stack, const Container& container, YamlPart& service) {
  const std::vector<Volume> all = exported_volumes(stack.translation.pod());
  YamlPart volumes = service.new_list(), configs = service.new_list(), secrets = service.new_list();
  const auto add = [&](const Mount& mount, bool is_read_only) -> Result<void> {
    const auto volume = std::ranges::find(all, mount.volume, &Volume::name);
    if (volume->kind == Volume::Source::kSecret)
      return add_swarm_key_files(stack, *volume, mount, configs, secrets);
    lose_sharing(stack.translation, container, *volume);
    add_service_volume(stack, container, *volume, mount, is_read_only, volumes);
    return {};
  };
  for (const Mount& mount : container.mounts)
    OCIRUN_TRY(add(mount, is_read_only(container, mount)));
  for (const MountPoint& point : container.mount_points)
    if (!is_mounted(container, point))
      OCIRUN_TRY(
          add({.volume = point.name, .path = point.path, .place = point.place}, point.read_only));
  for (const ConfigFile& file : container.config_files)
    add_swarm_config(stack, container, file, configs);
  service.add_unless_empty("volumes", volumes);
  service.add_unless_empty("configs", configs);
  service.add_unless_empty("secrets", secrets);
  return {};
}

}  // namespace ocirun::pods
