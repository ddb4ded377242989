#include <algorithm>

#include "linux/base/name_table.hpp"
#include "pods/radius/resource.hpp"

namespace ocirun::pods {
namespace {

constexpr auto kMount =
    placed(exact_fields<Mount>(required("mountPath", &Mount::path, path_below_root),
                               required("volumeName", &Mount::volume, nonempty_string)));

/// emptyDir: null or {} in the note; the published type has `medium`.
bool empty_directory(Value at, Volume& out) {
  enum class Medium : std::uint8_t { kDisk, kMemory };
  static constexpr linux::Named<Medium> kMedia[] = {{"disk", Medium::kDisk},
                                                    {"memory", Medium::kMemory}};
  struct EmptyDirectory {
    Medium medium = Medium::kDisk;
  };
  static constexpr auto kTable = exact_fields<EmptyDirectory>(
      field("medium", &EmptyDirectory::medium,
            bundle::word(
                "medium", [](std::string_view word) { return linux::value_of(kMedia, word); },
                [] { return linux::names_of(kMedia); })));
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
      field("accessMode", &Persistent::access,
            bundle::word(
                "access mode", [](std::string_view word) { return linux::value_of(kModes, word); },
                [] { return linux::names_of(kModes); })));
  Persistent read;
  if (!kTable(at, read)) return false;
  out.source = std::move(read.resource);
  out.read_only = out.shares_with_all = read.access == Access::kReadMany;
  out.exclusive = read.access == Access::kWriteOnce;
  out.exclusive_by = "accessMode is ReadWriteOnce";
  return true;
}

constexpr auto kVolume = exact_fields<Volume>(
    field("persistentVolumeId", &Volume::source, nonempty_string),
    part("persistentVolume", persistent_volume),
    field("secretId", &Volume::source, nonempty_string),
    field("secretName", &Volume::source, nonempty_string), part("emptyDir", empty_directory));

bool volume(Value at, Volume& out) {
  out.mode = 0777;  // of emptyDir, as Kubernetes makes it, on which Radius runs
  if (!kVolume(at, out)) return false;
  int given = 0;
  for (const Value member : at) {  // a loop, because `emptyDir: null` counts
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

}  // namespace

bool is_radius_name(std::string_view text) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= 63 && alphanumeric(text.front()) &&
         alphanumeric(text.back()) &&
         std::ranges::all_of(text, [&](char c) { return alphanumeric(c) || c == '-'; });
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
  for (const Value item : at) {
    good &= kMount(item, out.emplace_back());
    const std::string& path = out.back().path;
    if (std::ranges::count(out, path, &Mount::path) < 2 || path.empty()) continue;
    item.problem_at("mountPath", "\"{}\" is the path of another mount too", path);
    good = false;
  }
  return good;
}

}  // namespace ocirun::pods
