#include <algorithm>
#include <set>

#include "pods/export/swarm.hpp"
#include "pods/images/digest.hpp"

namespace ocirun::pods {
namespace {

/// The letters, digits, "-", "_" and "." of a name, which begins and ends with a letter or a digit.
std::string object_name(std::string_view text) {
  constexpr std::size_t kLongest = 50;
  std::string name;
  for (const char c : text.substr(0, kLongest)) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_word || !name.empty()) name += is_word || c == '-' || c == '.' ? c : '_';
  }
  while (!name.empty() && (name.back() == '-' || name.back() == '.' || name.back() == '_'))
    name.pop_back();
  return name.empty() ? "file" : name;
}

/// A file that a service gets from a config or a secret of Swarm.
struct SwarmFile {
  std::string source, target;
  std::optional<mode_t> mode = {};
};

void add_file(const SwarmFile& file, YamlPart& list) {
  YamlPart entry = list.add_object();
  entry.add("source", file.source);
  entry.add("target", file.target);
  if (file.mode) entry.add_literal("mode", fmt::format("0{:03o}", *file.mode));
}

/// The name of a config with this content. A config never changes: the digest in its own name makes
/// another content another config.
std::string config_with(SwarmStack& stack, Place place, std::string_view wish,
                        const std::string& content) {
  constexpr std::size_t kMostBytes = 500 * 1024;
  if (content.empty())
    stack.translation.lose(place, "", "a config of Swarm cannot be empty");
  else if (content.size() > kMostBytes)
    stack.translation.lose(place, "", "has {} bytes, and a config of Swarm at most {}",
                           content.size(), kMostBytes);
  if (content.empty() || content.size() > kMostBytes) return "";
  std::string name = object_name(wish);
  std::string path = "configs/" + name;
  for (int number = 2; stack.files.contains(path) && stack.files.at(path) != content; ++number) {
    name = fmt::format("{}.{}", object_name(wish), number);
    path = "configs/" + name;
  }
  if (stack.configs.has(name)) return name;
  constexpr std::size_t kLongest = 55, kDigits = 8;
  YamlPart config = stack.configs.add_object(name);
  config.add(
      "name",
      fmt::format("{}-{}",
                  fmt::format("{}-{}", stack.translation.request().name, name).substr(0, kLongest),
                  digest_of(content).hex().substr(0, kDigits)));
  config.add("file", "./" + path);
  stack.files.emplace(std::move(path), content);
  return name;
}

/// The name of the secret of Swarm for a key of a secret. It must exist: nothing of its content is
/// written.
std::string secret_for(SwarmStack& stack, const std::string& id, const std::string& key) {
  const std::string shown = id.substr(id.rfind('/') + 1);
  const std::string name = object_name(fmt::format("{}_{}", shown, key));
  stack.translation.expect(
      fmt::format("the secret \"{}\", which is the key \"{}\" of \"{}\" (docker secret create {} "
                  "FILE)",
                  name, key, shown, name));
  if (!stack.secrets.has(name)) stack.secrets.add_object(name).add("external", true);
  return name;
}

/// The keys of a volume that become files.
Result<std::vector<KeyFile>> files_of(SwarmStack& stack, const Volume& volume) {
  if (volume.items) return *volume.items;
  const Translation& translation = stack.translation;
  const Secrets known{.bindings = translation.request().given.bindings, .pod = translation.pod()};
  std::vector<KeyFile> files;
  if (!known.have(volume.source)) {
    stack.translation.lose(volume.place, "",
                           "which keys \"{}\" has is not known: items of the volume, --secret "
                           "{}=DIR or a document in the file tell it",
                           volume.source.substr(volume.source.rfind('/') + 1), volume.source);
    return files;
  }
  TRY_ASSIGN(const auto contents, known.files(volume.source));
  for (const auto& [key, content] : contents)
    files.push_back({.key = key, .path = key, .mode = std::nullopt, .place = volume.place});
  return files;
}

/// The path of a volume's file below a mount; "" if the mount does not show the file.
std::string path_below(const Mount& mount, const std::string& file) {
  if (mount.sub_path.empty()) return mount.path + "/" + file;
  if (file == mount.sub_path) return mount.path;
  if (file.starts_with(mount.sub_path + "/"))
    return mount.path + file.substr(mount.sub_path.size());
  return "";
}

/// Adds the files of a secret or a config map.
Result<void> add_key_files(SwarmStack& stack, const Volume& volume, const Mount& mount,
                           YamlPart& configs, YamlPart& secrets) {
  Translation& translation = stack.translation;
  const bool is_config_map = volume.source.starts_with(kConfigMapPrefix);
  const Secrets known{.bindings = translation.request().given.bindings, .pod = translation.pod()};
  if (is_config_map && !known.have(volume.source)) {
    translation.lose(volume.place, "",
                     "the ConfigMap \"{}\" must stand beside the workload, or in a directory "
                     "(--secret {}=DIR)",
                     volume.source.substr(kConfigMapPrefix.size()), volume.source);
    return {};
  }
  if (volume.is_optional && !known.have(volume.source))
    translation.lose(volume.place, "secret/optional",
                     "a secret of Swarm must exist, and cannot be optional");
  TRY_ASSIGN(const auto files, files_of(stack, volume));
  std::map<std::string, std::string> contents;
  if (is_config_map) {
    TRY_ASSIGN(contents, known.files(volume.source));
  }
  bool is_shown = files.empty();
  for (const KeyFile& file : files) {
    const std::string target = path_below(mount, file.path);
    if (target.empty()) continue;
    is_shown = true;
    SwarmFile out{.source = "", .target = target, .mode = file.mode ? file.mode : volume.file_mode};
    if (!is_config_map)
      out.source = secret_for(stack, volume.source, file.key);
    else if (contents.contains(file.key))
      out.source =
          config_with(stack, file.place == nullptr ? volume.place : file.place,
                      fmt::format("{}.{}", volume.source.substr(kConfigMapPrefix.size()), file.key),
                      contents.at(file.key));
    else
      translation.lose(file.place, "key", "the ConfigMap has no key \"{}\"", file.key);
    if (!out.source.empty()) add_file(out, is_config_map ? configs : secrets);
  }
  if (!is_shown)
    translation.lose(mount.place, "subPath", "no file of the volume is at \"{}\"", mount.sub_path);
  return {};
}

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

void add_host_directory(Translation& translation, const Volume& volume, YamlPart& entry) {
  entry.add("source", without_templates(volume.source));
  translation.expect(fmt::format("the directory {} on each node", volume.source));
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
  if (volume.kind == Source::kHost) add_host_directory(stack.translation, volume, entry);
  if (volume.kind == Source::kOperator) add_persistent(stack, volume, entry);
  entry.add("target", without_templates(mount.path));
  if (volume.read_only || is_read_only) entry.add("read_only", true);
  if (volume.kind == Source::kEmpty) add_anonymous(stack, container, volume, mount.path, entry);
  if (!mount.sub_path.empty())
    stack.translation.lose(mount.place, "subPath", "a service mounts a whole volume, not \"{}\"",
                           mount.sub_path);
}

/// An empty volume is how containers of a pod give files to each other.
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
      return add_key_files(stack, *volume, mount, configs, secrets);
    lose_sharing(stack.translation, container, *volume);
    add_service_volume(stack, container, *volume, mount, is_read_only, volumes);
    return {};
  };
  for (const Mount& mount : container.mounts) TRY(add(mount, is_read_only(container, mount)));
  for (const MountPoint& point : container.mount_points)
    if (!is_mounted(container, point))
      TRY(add({.volume = point.name, .path = point.path, .place = point.place}, point.read_only));
  for (const ConfigFile& file : container.config_files) {
    const std::string base = file.path.substr(file.path.rfind('/') + 1);
    const std::string config =
        config_with(stack, file.place, fmt::format("{}.{}", container.name, base),
                    exported_content(stack.translation, file));
    if (!config.empty()) add_file({.source = config, .target = file.path}, configs);
  }
  service.add_unless_empty("volumes", volumes);
  service.add_unless_empty("configs", configs);
  service.add_unless_empty("secrets", secrets);
  return {};
}

}  // namespace ocirun::pods
