#include "linux/base/letters.hpp"
#include "pods/documents/model/digest.hpp"
#include "pods/export/swarm.hpp"

namespace ocirun::pods {
namespace {

constexpr std::size_t kLongestWish = 50;  // 64, without a digest and the number of a twin
constexpr std::size_t kDigestDigits = 8;

/// The letters, digits, "-", "_" and "." of a name, which begins and ends with a letter or a digit.
std::string object_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, kLongestWish)) {
    const bool is_word = linux::is_alphanumeric(c);
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

std::string config_path(std::string_view name) {
  return fmt::format("{}/{}", kConfigDirectory, name);
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
  std::string path = config_path(name);
  for (int number = 2; stack.files.contains(path) && stack.files.at(path) != content; ++number) {
    name = fmt::format("{}.{}", object_name(wish), number);
    path = config_path(name);
  }
  if (stack.configs.has(name)) return name;
  constexpr std::size_t kLongest = 55;
  YamlPart config = stack.configs.add_object(name);
  config.add(
      "name",
      fmt::format("{}-{}",
                  fmt::format("{}-{}", stack.translation.request().name, name).substr(0, kLongest),
                  digest_of(content).hex().substr(0, kDigestDigits)));
  config.add("file", "./" + path);
  stack.files.emplace(std::move(path), content);
  return name;
}

/// The name of the secret of Swarm for a key of a secret. A name that is cut, or that another key
/// has, ends with a digest of the secret's id and the key.
const std::string& secret_name(SwarmStack& stack, const std::string& id, const std::string& key) {
  const auto [named, is_new] = stack.secret_names.try_emplace({id, key});
  std::string& name = named->second;
  if (!is_new) return name;
  const std::string wish = fmt::format("{}_{}", id.substr(id.rfind('/') + 1), key);
  name = object_name(wish);
  if (wish.size() > kLongestWish || stack.secrets.has(name))
    name += "-" + digest_of(fmt::format("{}/{}", id, key)).hex().substr(0, kDigestDigits);
  return name;
}

/// Adds the external secret for a key of a secret, and returns its name. Nothing of the content is
/// written.
std::string secret_for(SwarmStack& stack, const std::string& id, const std::string& key) {
  const std::string shown = id.substr(id.rfind('/') + 1);
  const std::string& name = secret_name(stack, id, key);
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
  const Secrets known{.bindings = translation.given().bindings, .pod = translation.pod()};
  std::vector<KeyFile> files;
  if (!known.have(volume.source)) {
    stack.translation.lose(volume.place, "",
                           "which keys \"{}\" has is not known: items of the volume, --secret "
                           "{}=DIR or a document in the file tell it",
                           volume.source.substr(volume.source.rfind('/') + 1), volume.source);
    return files;
  }
  OCIRUN_TRY_ASSIGN(const auto contents, known.files(volume.source));
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

}  // namespace

Result<void> add_swarm_key_files(SwarmStack& stack, const Volume& volume, const Mount& mount,
                                 YamlPart& configs, YamlPart& secrets) {
  Translation& translation = stack.translation;
  const bool is_config_map = volume.source.starts_with(kConfigMapPrefix);
  const Secrets known{.bindings = translation.given().bindings, .pod = translation.pod()};
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
  OCIRUN_TRY_ASSIGN(const auto files, files_of(stack, volume));
  std::map<std::string, std::string> contents;
  if (is_config_map) {
    OCIRUN_TRY_ASSIGN(contents, known.files(volume.source));
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

void add_swarm_config(SwarmStack& stack, const Container& container, const ConfigFile& file,
                      YamlPart& configs) {
  const std::string base = file.path.substr(file.path.rfind('/') + 1);
  const std::string config =
      config_with(stack, file.place, fmt::format("{}.{}", container.name, base),
                  exported_content(stack.translation, file));
  if (!config.empty()) add_file({.source = config, .target = file.path}, configs);
}

}  // namespace ocirun::pods
