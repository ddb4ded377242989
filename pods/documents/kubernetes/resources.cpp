#include "pods/documents/kubernetes/pod_spec.hpp"
#include "pods/documents/model/device_requests.hpp"

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
  return bundle::checked(
      placed(exact_fields<Resources>(field("requests", &Resources::requests, requests),
                                     field("limits", &Resources::limits, limits),
                                     not_supported("claims", "limits name devices of the host"))),
      check_limits);
}

constexpr auto kPlainAmounts =
    amounts(not_supported("ephemeral-storage", kNoStorageLimit)).beside(is_device_amount);
constexpr auto kPlainResources = resources(kPlainAmounts, kPlainAmounts);

/// Whether the member is an amount that device_requests() reads, or one that is refused here.
bool is_other_resource(Value member) {
  if (is_device_amount(member)) return true;
  if (!member.key().starts_with("hugepages-")) return false;
  refuse_known_name(member, "containers have the huge pages of the host");
  return true;
}

constexpr auto kRequests = amounts(field("ephemeral-storage", &Amounts::storage, kubernetes_bytes))
                               .beside(is_other_resource);
constexpr auto kLimits =
    amounts(not_supported("ephemeral-storage", kNoStorageLimit)).beside(is_other_resource);
constexpr auto kAllResources = resources(kRequests, kLimits);

}  // namespace

bool plain_resources(Value at, Resources& out) {
  return kPlainResources(at, out) && device_requests(at, out.devices);
}

bool kubernetes_resources(Value at, Resources& out) {
  return kAllResources(at, out) && device_requests(at, out.devices);
}

}  // namespace ocirun::pods
