#include <algorithm>

#include "linux/base/text.hpp"
#include "pods/kubernetes/names.hpp"
#include "pods/kubernetes/pod_spec.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kNoStorageLimit = "what a container writes to its root has no limit";

template <typename... Rows>
constexpr auto amounts(Rows... rows) {
  return exact_fields<Amounts>(field("cpu", &Amounts::cpus, kubernetes_cpus),
                               field("memory", &Amounts::memory, kubernetes_bytes), rows...);
}

template <typename Requests, typename Limits>
constexpr auto resources(Requests requests, Limits limits) {
  return bundle::checked(placed(exact_fields<Resources>(
                             field("requests", &Resources::requests, requests),
                             field("limits", &Resources::limits, limits),
                             not_supported("claims", "containers get no devices of the host"))),
                         check_limits);
}

constexpr auto kPlainAmounts = amounts(not_supported("ephemeral-storage", kNoStorageLimit));
constexpr auto kPlainResources = resources(kPlainAmounts, kPlainAmounts);

/// Whether the name is that of an extended resource: "vendor.com/gpu". Those without a domain, and
/// of the domain kubernetes.io, are Kubernetes' own.
bool is_extended(std::string_view name) {
  const std::string_view domain = name.substr(0, name.find('/'));
  return name.contains('/') && is_label_key(name) && domain != "kubernetes.io" &&
         !domain.ends_with(".kubernetes.io");
}

/// extended_devices() reads the extended resources.
bool is_other_resource(Value member) {
  if (is_extended(member.key())) return true;
  if (!member.key().starts_with("hugepages-")) return false;
  refuse_known_name(member, "containers have the huge pages of the host");
  return true;
}

constexpr auto kRequests = amounts(field("ephemeral-storage", &Amounts::storage, kubernetes_bytes))
                               .beside(is_other_resource);
constexpr auto kLimits =
    amounts(not_supported("ephemeral-storage", kNoStorageLimit)).beside(is_other_resource);
constexpr auto kAllResources = resources(kRequests, kLimits);

/// A whole number of devices, with or without quotes.
bool device_count(Value at, std::uint32_t& out) {
  constexpr std::uint32_t kMost = 1'000'000;
  if (at.node().is_string()) {
    const auto number = linux::number<std::uint32_t>(at.node().text);
    if (number && *number <= kMost) {
      out = *number;
      return true;
    }
    at.problem("must be a whole number of devices, from 0 to {}, not {}", kMost, found(at));
    return false;
  }
  return bundle::range(0, kMost)(at, out);
}

bool extended_devices(Value at, Resources& out) {
  const auto limits = at.member("limits");
  const auto requests = at.member("requests");
  bool good = true;
  std::map<std::string_view, std::uint32_t> counts;
  if (limits)
    for (const Value member : *limits) {
      if (member.is_null() || !is_extended(member.key())) continue;
      DeviceRequest request{.kind = std::string(member.key()), .place = &member.node()};
      good &= device_count(member, request.count);
      counts[member.key()] = request.count;
      if (request.count != 0) out.devices.push_back(std::move(request));
    }
  if (requests)
    for (const Value member : *requests) {
      if (member.is_null() || !is_extended(member.key())) continue;
      std::uint32_t count = 0;
      good &= device_count(member, count);
      const auto limit = counts.find(member.key());
      if (limit != counts.end() && limit->second == count) continue;
      member.problem("must be the same as in limits, because devices are not shared");
      good = false;
    }
  return good;
}

}  // namespace

bool plain_resources(Value at, Resources& out) { return kPlainResources(at, out); }

bool kubernetes_resources(Value at, Resources& out) {
  return kAllResources(at, out) && extended_devices(at, out);
}

}  // namespace ocirun::pods
