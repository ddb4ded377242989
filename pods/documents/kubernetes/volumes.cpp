#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "linux/base/text.hpp"
#include "pods/documents/kubernetes/pod_spec.hpp"
#include "pods/documents/kubernetes/unsupported.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

struct EmptyDir {
  std::string medium;
  std::optional<std::uint64_t> size;
};

bool empty_dir(Value at, Volume& out) {
  static constexpr auto kTable =
      exact_fields<EmptyDir>(field("medium", &EmptyDir::medium, string),
                             field("sizeLimit", &EmptyDir::size, kubernetes_bytes));
  EmptyDir directory;
  if (!kTable(at, directory)) return false;
  out.kind = Volume::Source::kEmpty;
  out.mode = 0777;  // as Kubernetes makes it
  out.in_memory = directory.medium == "Memory";
  out.most_bytes = directory.size;
  if (out.in_memory || directory.medium.empty()) return true;
  at.problem_at("medium", "must be \"Memory\" or \"\"");
  return false;
}

/// The bits of a mode, at most 0777. Kubernetes reads `0400` as octal, as YAML 1.1 does, and `256`
/// as the same mode.
bool permission_bits(Value at, mode_t& out) {
  constexpr mode_t kMost = 0777;
  const bundle::Node& node = at.node();
  const std::string_view digits = node.text;  // empty in JSON, which has no number "0400"
  const bool is_old_octal = !node.is_string() && digits.size() > 1 && digits.starts_with('0') &&
                            digits.find_first_not_of("01234567") == std::string_view::npos;
  const bool is_number = is_old_octal || node.kind == bundle::Node::Kind::kNatural;
  std::uint64_t value = node.number;
  if (is_old_octal) std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (is_number && value <= kMost) {
    out = static_cast<mode_t>(value);
    return true;
  }
  at.problem("must be the bits of a mode, from 0 to 0777 (decimal: 511), not {}",
             digits.empty() ? found(at) : std::string(digits.substr(0, 40)));
  return false;
}

/// A path below a volume, which gets its shortest form. "." is the volume itself.
bool path_in_volume(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (out.starts_with('/') || has_dot_dot(out)) {
    at.problem("must be a relative path without \"..\", not {}", found(at));
    return false;
  }
  std::string shortest;
  for (const std::string_view part : linux::words(out, '/'))
    if (part != ".") shortest.append(shortest.empty() ? "" : "/").append(part);
  out = std::move(shortest);
  return true;
}

bool file_path(Value at, std::string& out) {
  if (!path_in_volume(at, out)) return false;
  if (!out.empty()) return true;
  at.problem("must name a file, not {}", found(at));
  return false;
}

constexpr auto kItem = placed(exact_fields<KeyFile>(
    required("key", &KeyFile::key, nonempty_string), required("path", &KeyFile::path, file_path),
    field("mode", &KeyFile::mode, permission_bits)));

/// A file must not be a directory of another one.
bool items(Value at, std::vector<KeyFile>& out) {
  if (!unique_list_of(kItem, by("path", &KeyFile::path))(at, out)) return false;
  std::map<std::string_view, const KeyFile*> by_path;
  for (const KeyFile& file : out) by_path.emplace(file.path, &file);
  for (const KeyFile& other : out)
    for (std::size_t end = other.path.find('/'); end != std::string::npos;
         end = other.path.find('/', end + 1)) {
      const auto file = by_path.find(std::string_view(other.path).substr(0, end));
      if (file == by_path.end()) continue;
      Value(*file->second->place, at.report())
          .problem_at("path", "\"{}\" is a directory of the file \"{}\"", file->first, other.path);
      return false;
    }
  return true;
}

/// A secret or a config map, whose keys are files: read-only (KN-24).
template <std::size_t N>
constexpr auto key_files(std::string_view prefix, const char (&name)[N]) {
  return [prefix, name = std::string_view(name)](Value at, Volume& out) {
    const auto table = exact_fields<Volume>(
        required(name, &Volume::source, dns_name), field("items", &Volume::items, items),
        field("defaultMode", &Volume::file_mode, permission_bits),
        field("optional", &Volume::is_optional, boolean));
    if (!table(at, out)) return false;
    out.kind = Volume::Source::kSecret;
    out.source.insert(0, prefix);
    out.read_only = true;
    return true;
  };
}

bool claim(Value at, Volume& out) {
  static constexpr auto kClaim =
      exact_fields<Volume>(required("claimName", &Volume::source, dns_name),
                           field("readOnly", &Volume::read_only, boolean));
  if (!kClaim(at, out)) return false;
  out.kind = Volume::Source::kOperator;
  return true;
}

/// A file of the host, mostly a directory.
bool host_path(Value at, Volume& out) {
  static constexpr auto kTable =
      exact_fields<Volume>(required("path", &Volume::source, container_path),
                           field("type", &Volume::host_type, [](Value type, HostType& read) {
                             if (type.node().is_string() && type.node().text.empty()) return true;
                             return word_of<kHostTypes>("type of hostPath")(type, read);
                           }));
  if (!kTable(at, out)) return false;
  out.kind = Volume::Source::kHost;
  return true;
}

template <typename... Rows>
constexpr auto volume_fields(Rows... rows) {
  return exact_fields<Volume>(required("name", &Volume::name, dns_label),
                              part("emptyDir", empty_dir),
                              part("secret", key_files("", "secretName")),
                              part("configMap", key_files(kConfigMapPrefix, "name")),
                              part("persistentVolumeClaim", claim), rows...)
      .beside([](Value member) {
        return refuse_if_listed(member, unsupported_of(PartOfPod::kVolume));
      });
}
constexpr auto kKnativeVolume = volume_fields(not_supported("hostPath", kClaimInstead));
constexpr auto kKubernetesVolume = volume_fields(part("hostPath", host_path));

constexpr std::array<std::string_view, 5> kSources = {"emptyDir", "secret", "configMap",
                                                      "persistentVolumeClaim", "hostPath"};

/// Whether the volume has a source that --ignore leaves out.
bool has_ignored_source(Value at, bool is_knative) {
  const auto others = unsupported_of(PartOfPod::kVolume);
  for (const Value member : at) {
    const bool is_other =
        std::ranges::find(others, member.key(), &UnsupportedName::name) != others.end() ||
        (is_knative && member.key() == "hostPath");
    if (is_other && at.report().ignores(member.key())) return true;
  }
  return false;
}

bool volume(Value at, Volume& out, Dialect dialect) {
  const bool is_knative = dialect == Dialect::kKnative;
  out.place = &at.node();
  if (!(is_knative ? kKnativeVolume(at, out) : kKubernetesVolume(at, out))) return false;
  std::span<const std::string_view> sources = kSources;
  if (is_knative) sources = sources.first(kSources.size() - 1);
  const auto given = std::ranges::count_if(
      sources, [&](std::string_view name) { return at.member(name).has_value(); });
  if (given == 1) return true;
  if (given == 0 && has_ignored_source(at, is_knative)) {  // --volume gives the volume instead
    out.kind = Volume::Source::kOperator;
    out.source = out.name;
    return true;
  }
  if (given == 0 && at.report().has_unsupported_in(at.node())) return true;
  at.problem("must have exactly one of {}, not {}", bundle::comma_list(sources), given);
  return false;
}

constexpr auto kMount =
    placed(exact_fields<Mount>(required("name", &Mount::volume, dns_label),
                               required("mountPath", &Mount::path, path_below_root),
                               field("readOnly", &Mount::read_only, boolean),
                               field("subPath", &Mount::sub_path,
                                     [](Value at, std::string& out) {
                                       if (at.node().is_string() && at.node().text.empty())
                                         return true;
                                       return path_in_volume(at, out);
                                     }))
               .beside([](Value member) {
                 return refuse_if_listed(member, unsupported_of(PartOfPod::kMount));
               }));

}  // namespace

bool pod_volumes(Value at, std::vector<Volume>& out, Dialect dialect) {
  const auto read = [dialect](Value item, Volume& entry) { return volume(item, entry, dialect); };
  return unique_list_of(read, by("name", &Volume::name))(at, out);
}

bool container_mounts(Value at, std::vector<Mount>& out) {
  return unique_list_of(kMount, by("mountPath", &Mount::path))(at, out);
}

}  // namespace ocirun::pods
