#include <algorithm>
#include <array>

#include "pods/documents/kubernetes/pod_spec.hpp"
#include "pods/documents/kubernetes/workload.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kOnePod = "ReadWriteOncePod";

struct Claim {
  std::vector<std::string> modes;
  std::optional<std::uint64_t> bytes;
};

constexpr std::string_view kOwnDirectory = "the volume is a directory that ocirun keeps";

bool access_modes(Value at, Claim& out) {
  static constexpr std::array<std::string_view, 4> kModes = {"ReadWriteOnce", "ReadOnlyMany",
                                                             "ReadWriteMany", "ReadWriteOncePod"};
  if (!list_of(string)(at, out.modes)) return false;
  for (const Value item : at)
    if (std::ranges::find(kModes, item.node().text) == kModes.end()) {
      bundle::unknown_word(item, "access mode", kModes);
      return false;
    }
  if (out.modes.size() > 1 && std::ranges::find(out.modes, kOnePod) != out.modes.end()) {
    at.problem("{} must be the only access mode", kOnePod);
    return false;
  }
  return true;
}

}  // namespace

bool claim_spec(Value at, Volume& out) {
  static constexpr auto kRequests =
      exact_fields<Claim>(part("storage", [](Value size, Claim& read) {
        if (!kubernetes_bytes(size, read.bytes.emplace())) return false;
        size.warning("has no effect: a directory has no size of its own");
        return true;
      }));
  static constexpr auto kResources =
      exact_fields<Claim>(part("requests", kRequests), part("limits", kRequests));
  static constexpr auto kTable = exact_fields<Claim>(
      part("accessModes", access_modes), part("resources", kResources),
      no_effect("storageClassName", kOwnDirectory), no_effect("volumeName", kOwnDirectory),
      no_effect("selector", kOwnDirectory), no_effect("volumeAttributesClassName", kOwnDirectory),
      part_unless_empty<std::string>("volumeMode",
                                     [](Value mode, Claim&) {
                                       std::string word;
                                       if (!string(mode, word)) return false;
                                       return word == "Filesystem" ||
                                              refuse_known_name(mode, "a volume is a directory");
                                     }),
      not_supported("dataSource", "a new volume has what the image has there"),
      not_supported("dataSourceRef", "a new volume has what the image has there"));
  Claim claim;
  if (!kTable(at, claim)) return false;
  const auto has = [&](std::string_view mode) {
    return std::ranges::find(claim.modes, mode) != claim.modes.end();
  };
  out.exclusive = has(kOnePod);
  if (out.exclusive) out.exclusive_by = "its access mode is ReadWriteOncePod";
  out.read_only = out.shares_with_all = claim.modes.size() == 1 && has("ReadOnlyMany");
  return true;
}

bool read_claim(Value at, const std::string& name, Pod& out) {
  Volume claimed;
  if (!claim_spec(at, claimed)) return false;
  bool is_used = false;
  for (Volume& volume : out.volumes) {
    if (volume.kind != Volume::Source::kOperator || volume.source != name) continue;
    is_used = volume.is_claimed = true;
    volume.exclusive = claimed.exclusive;
    volume.exclusive_by = claimed.exclusive_by;
    volume.read_only |= claimed.read_only;
    volume.shares_with_all = claimed.shares_with_all;
  }
  if (!is_used) at.warning("has no effect: nothing in the workload uses the claim \"{}\"", name);
  return true;
}

}  // namespace ocirun::pods
