#include "pods/documents/oam/application.hpp"

#include <algorithm>

#include "linux/base/letters.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

constexpr auto kAccessMode = [](Value at, DeclaredVolume& out) {
  static constexpr std::string_view kModes[] = {"RW", "RO"};
  std::string word;
  if (!string(at, word)) return false;
  out.mount.read_only = word == "RO";
  if (out.mount.read_only || word == "RW") return true;
  bundle::unknown_word(at, "access mode", kModes);
  return false;
};
constexpr auto kSharingPolicy = [](Value at, DeclaredVolume& out) {
  static constexpr std::string_view kPolicies[] = {"Exclusive", "Shared"};
  std::string word;
  if (!string(at, word)) return false;
  out.volume.exclusive = word == "Exclusive";
  if (out.volume.exclusive || word == "Shared") return true;
  bundle::unknown_word(at, "sharing policy", kPolicies);
  return false;
};
constexpr auto kDisk = exact_fields<DeclaredVolume>(
    required_part("required",
                  [](Value at, DeclaredVolume& out) {
                    return oam_size(at, out.volume.least_bytes.emplace());
                  }),
    field("ephemeral", &DeclaredVolume::ephemeral, boolean));

constexpr auto kVolume = placed(exact_fields<DeclaredVolume>(
    required_part("name",
                  [](Value at, DeclaredVolume& out) { return oam_name(at, out.volume.name); }),
    required_part(
        "mountPath",
        [](Value at, DeclaredVolume& out) { return path_below_root(at, out.mount.path); }),
    part_unless_empty<std::string>("accessMode", kAccessMode),
    part_unless_empty<std::string>("sharingPolicy", kSharingPolicy), part("disk", kDisk)));

bool declared_volume(Value at, DeclaredVolume& out) {
  out.volume.exclusive = true;
  out.volume.place = out.mount.place = &at.node();
  if (!kVolume(at, out)) return false;
  out.mount.volume = out.volume.name;
  out.volume.source = out.volume.name;
  out.volume.kind = out.ephemeral ? Volume::Source::kEmpty : Volume::Source::kOperator;
  return true;
}

/// OAM-37: group/version.Kind, such as "ext.example.com/v1.MotionSensor".
bool group_version_kind(Value at, std::string& out) {
  if (!string(at, out)) return false;
  const std::size_t slash = out.find('/');
  const std::size_t dot = slash == std::string::npos ? slash : out.find('.', slash);
  const bool good = slash != std::string::npos && slash != 0 && dot != std::string::npos &&
                    dot != slash + 1 && dot + 1 != out.size() &&
                    out.find('/', slash + 1) == std::string::npos;
  if (!good)
    at.problem("must be a group, version and kind, such as \"ext.example.com/v1.Sensor\", not {}",
               found(at));
  return good;
}

constexpr auto kExtended = placed(
    exact_fields<ExtendedResource>(required("name", &ExtendedResource::name, group_version_kind),
                                   required("required", &ExtendedResource::required, string)));

/// {"required": …} of cpu, memory and gpu: the only member.
template <typename Reader>
constexpr auto only_required(Reader reader) {
  return [reader](Value at, OamResources& out) {
    return exact_fields<OamResources>(required_part("required", reader))(at, out);
  };
}

constexpr auto kResources = placed(exact_fields<OamResources>(
    required_part("cpu", only_required([](Value at, OamResources& out) {
                    return cpu_count(at, out.resources.requests.cpus.emplace());
                  })),
    required_part("memory", only_required([](Value at, OamResources& out) {
                    return oam_size(at, out.resources.requests.memory.emplace());
                  })),
    part("gpu", only_required([](Value at, OamResources& out) {
           return number_from(at, 0, out.resources.gpus);
         })),
    part("volumes",
         [](Value at, OamResources& out) {
           if (!list_of(declared_volume)(at, out.volumes)) return false;
           report_twice(at, out.volumes,
                        by("mountPath", [](const DeclaredVolume& item) -> const std::string& {
                          return item.mount.path;
                        }));
           return true;
         }),
    part("extended", [](Value at, OamResources& out) {
      return list_of(kExtended)(at, out.resources.extended);
    })));

/// The quantity `name` of Kubernetes' requests or limits, if there is one that can be read.
template <typename Number>
std::optional<Number> quantity(Value at, std::string_view name, bool (*read)(Value, Number&)) {
  bundle::Report unread;  // a faulty quantity is none
  for (const std::string_view list : {"requests", "limits"}) {
    const auto amounts = at.member(list);
    const auto found = amounts ? amounts->member(name) : amounts;
    Number number{};
    if (found && read(Value(found->node(), unread), number)) return number;
  }
  return std::nullopt;
}

/// A number of bytes with the largest unit of OAM that leaves it whole.
std::string oam_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits = "KMGTP";
  std::string unit;
  for (const char letter : kUnits) {
    if (bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = letter;
  }
  return fmt::format("{}{}", bytes, unit);
}

/// Says what to write for Kubernetes' form, in OAM's.
void refuse_kubernetes_form(Value at) {
  const auto cpus = quantity<double>(at, "cpu", kubernetes_cpus);
  const auto bytes = quantity<std::uint64_t>(at, "memory", kubernetes_bytes);
  at.problem_at(
      at.member("requests") ? "requests" : "limits",
      "is Kubernetes' form: write cpu: {{required: {}}} and memory: {{required: {}}} into "
      "resources instead of limits and requests",
      cpus ? fmt::format("{:g}", *cpus) : "NUMBER", bytes ? oam_text(*bytes) : "SIZE");
}

}  // namespace

bool oam_name(Value at, std::string& out) {
  if (!string(at, out)) return false;
  const auto inner = [&](char c) {
    return linux::is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  };
  if (!out.empty() && out.size() <= 63 && linux::is_alphanumeric(out.front()) &&
      linux::is_alphanumeric(out.back()) && std::ranges::all_of(out, inner))
    return true;
  at.problem(
      "must be 1 to 63 letters, digits, \"-\", \"_\" and \".\", with a letter or digit at both "
      "ends, "
      "not {}",
      found(at));
  return false;
}

bool oam_resources(Value at, OamResources& out) {
  if (at.member("limits") || at.member("requests")) {
    refuse_kubernetes_form(at);
    return false;
  }
  return kResources(at, out);
}

}  // namespace ocirun::pods
