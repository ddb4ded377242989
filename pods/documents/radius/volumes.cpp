#include <algorithm>
#include <map>
#include <set>

#include "linux/base/letters.hpp"
#include "pods/documents/radius/resource.hpp"

namespace ocirun::pods {
namespace {

constexpr auto kMount =
    placed(exact_fields<Mount>(required("mountPath", &Mount::path, path_below_root),
                               required("volumeName", &Mount::volume, nonempty_string)));

/// emptyDir. The design note has null or {} as its value. The published type has an object with the
/// optional member `medium`.
bool empty_directory(Value at, Volume& out) {
  enum class Medium : std::uint8_t { kDisk, kMemory };
  static constexpr linux::Named<Medium> kMedia[] = {{"disk", Medium::kDisk},
                                                    {"memory", Medium::kMemory}};
  struct EmptyDirectory {
    Medium medium = Medium::kDisk;
  };
  static constexpr auto kTable = exact_fields<EmptyDirectory>(
      field("medium", &EmptyDirectory::medium, word_of<kMedia>("medium")));
  EmptyDirectory directory;
  if (!kTable(at, directory)) return false;
  out.in_memory = directory.medium == Medium::kMemory;
  return true;
}

/// persistentVolume of the published type. One container resource alone writes to a volume unless
/// accessMode says otherwise.
bool persistent_volume(Value at, Volume& out) {
  enum class Access : std::uint8_t { kWriteOnce, kReadMany, kWriteMany };
  static constexpr linux::Named<Access> kModes[] = {{"ReadWriteOnce", Access::kWriteOnce},
                                                    {"ReadOnlyMany", Access::kReadMany},
                                                    {"ReadWriteMany", Access::kWriteMany}};
  struct Persistent {
    std::string resource;
    Access access = Access::kWriteOnce;
  };
  static constexpr auto kTable = exact_fields<Persistent>(
      required("resourceId", &Persistent::resource, nonempty_string),
      field("accessMode", &Persistent::access, word_of<kModes>("access mode")));
  Persistent read;
  if (!kTable(at, read)) return false;
  out.source = std::move(read.resource);
  out.read_only = out.shares_with_all = read.access == Access::kReadMany;
  out.exclusive = read.access == Access::kWriteOnce;
  out.exclusive_by = "accessMode is ReadWriteOnce";
  return true;
}

/// bundle::field(), not field(): a member chooses the kind of the volume by standing there, also
/// empty.
constexpr auto kVolume =
    exact_fields<Volume>(bundle::field("persistentVolumeId", &Volume::source, nonempty_string),
                         part("persistentVolume", persistent_volume),
                         bundle::field("secretId", &Volume::source, nonempty_string),
                         bundle::field("secretName", &Volume::source, nonempty_string),
                         part("emptyDir", empty_directory));

constexpr mode_t kEmptyDirMode = 0777;  // of Kubernetes, on which Radius runs

bool volume(Value at, Volume& out) {
  out.mode = kEmptyDirMode;
  if (!kVolume(at, out)) return false;
  int given = 0;
  for (const Value member : at) {  // finds `emptyDir: null`; member() does not
    if (member.is_null() && member.key() != "emptyDir") continue;
    ++given;
    if (member.key().starts_with("persistent")) out.kind = Volume::Source::kOperator;
    if (member.key().starts_with("secret")) out.kind = Volume::Source::kSecret;
  }
  out.read_only |= out.kind == Volume::Source::kSecret;
  if (given == 1) return true;
  at.problem(
      "must have exactly one of persistentVolumeId, persistentVolume, secretId, secretName and "
      "emptyDir, not {}",
      given);
  return false;
}

/// Whether the path of the mount at `at` is not yet among the `paths` of other mounts.
bool has_own_path(Value at, const std::string& path, std::set<std::string>& paths) {
  if (path.empty() || paths.insert(path).second) return true;
  at.problem_at("mountPath", "\"{}\" is the path of another mount too", path);
  return false;
}

/// A volume of Applications.Core/containers, with the only mount that it has.
struct MountedVolume {
  Volume volume;
  Mount mount;
};

template <typename... Rows>
constexpr auto mounted_fields(Rows... rows) {
  return exact_fields<MountedVolume>(part("kind", any_value),
                                     required_part("mountPath",
                                                   [](Value at, MountedVolume& out) {
                                                     return path_below_root(at, out.mount.path);
                                                   }),
                                     rows...);
}

bool core_volume(Value at, MountedVolume& out) {
  static constexpr linux::Named<Volume::Source> kKinds[] = {
      {"ephemeral", Volume::Source::kEmpty}, {"persistent", Volume::Source::kOperator}};
  static constexpr linux::Named<bool> kStores[] = {{"disk", false}, {"memory", true}};
  static constexpr linux::Named<bool> kPermissions[] = {{"read", true}, {"write", false}};
  static constexpr auto kEphemeral =
      mounted_fields(required_part("managedStore", [](Value store, MountedVolume& read) {
        return word_of<kStores>("managedStore")(store, read.volume.in_memory);
      }));
  static constexpr auto kPersistent = mounted_fields(
      required_part("source",
                    [](Value source, MountedVolume& read) {
                      return nonempty_string(source, read.volume.source);
                    }),
      part_unless_empty<std::string>("permission", [](Value permission, MountedVolume& read) {
        return word_of<kPermissions>("permission")(permission, read.mount.read_only);
      }));
  if (!read_kind<kKinds>(at, "kind of volume", "ephemeral or persistent", out.volume.kind))
    return false;
  if (out.volume.kind == Volume::Source::kEmpty) return kEphemeral(at, out);
  out.mount.read_only = true;  // unless `permission` is write
  return kPersistent(at, out);
}

}  // namespace

bool is_radius_name(std::string_view text) {
  return !text.empty() && text.size() <= 63 && linux::is_alphanumeric(text.front()) &&
         linux::is_alphanumeric(text.back()) &&
         std::ranges::all_of(text, [&](char c) { return linux::is_alphanumeric(c) || c == '-'; });
}

bool has_radius_name(Value member) {
  if (is_radius_name(member.key())) return true;
  member.problem(
      "the name must be 1 to 63 letters, digits and \"-\", with a letter or digit at both ends");
  return false;
}

bool radius_volumes(Value at, std::vector<Volume>& out) {
  return named_items(at, out, [](Value member, Volume& item) {
    const bool is_named = has_radius_name(member);
    return volume(member, item) && is_named;
  });
}

bool radius_volume_mounts(Value at, std::vector<Mount>& out) {
  if (!at.node().is_array() && !at.node().is_object()) {
    at.problem("must be a list of mounts, or an object of mounts with names, not {}", found(at));
    return false;
  }
  bool good = true;
  std::set<std::string> paths;
  for (const Value item : at) {
    good &= kMount(item, out.emplace_back());
    good &= has_own_path(item, out.back().path, paths);
  }
  return good;
}

bool core_volumes(Value at, std::vector<Volume>& volumes, std::vector<Mount>& mounts) {
  if (!at.expect_object()) return false;
  bool good = true;
  std::set<std::string> paths;
  std::map<std::string, std::string> names;  // of volumes, by their sources
  for (const Value member : at) {
    MountedVolume read;
    good &= has_radius_name(member);
    good &= core_volume(member, read);
    read.volume.name = read.mount.volume = member.key();
    read.volume.place = read.mount.place = &member.node();
    read.volume.mode = kEmptyDirMode;
    // Two volumes of one source are one directory with two mounts.
    const auto [same, is_new] = names.emplace(read.volume.source, read.volume.name);
    if (!read.volume.source.empty() && !is_new)
      read.mount.volume = same->second;
    else
      volumes.push_back(std::move(read.volume));
    good &= has_own_path(member, read.mount.path, paths);
    mounts.push_back(std::move(read.mount));
  }
  return good;
}

}  // namespace ocirun::pods
