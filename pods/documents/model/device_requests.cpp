#include "pods/documents/model/device_requests.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/text.hpp"
#include "pods/documents/model/device_names.hpp"
#include "pods/documents/model/numbers.hpp"

namespace ocirun::pods {
namespace {

constexpr std::uint32_t kMostDevices = 4096;

/// A whole number, or a quantity of Kubernetes that is one; nothing for another value.
std::optional<std::uint32_t> device_count(const bundle::Node& node) {
  const auto count = whole_quantity(node);
  if (!count || *count > kMostDevices) return std::nullopt;
  return static_cast<std::uint32_t>(*count);
}

}  // namespace

bool may_be_devices(const ExtendedResource& resource) {
  return is_device_kind(resource.name) &&
         linux::number<std::uint32_t>(resource.required).value_or(kMostDevices + 1) <= kMostDevices;
}

bool is_device_amount(Value member) {
  if (!is_device_kind(member.key())) return false;
  if (has_one_reading(member) && !device_count(member.node()))
    member.problem("must be a whole number of devices, at most {}, not {}", kMostDevices,
                   found(member));
  return true;
}

bool device_requests(Value resources, std::vector<DeviceRequest>& out) {
  const std::size_t before = resources.report().problem_count();
  const auto limits = resources.member("limits");
  const auto requests = resources.member("requests");
  std::map<std::string_view, Value> limit_of;
  if (limits)
    for (const Value limit : *limits)
      if (!limit.is_null()) limit_of.emplace(limit.key(), limit);
  if (requests)
    for (const Value request : *requests) {
      if (!is_device_kind(request.key()) || request.is_null()) continue;
      const auto limit = limit_of.find(request.key());
      if (limit == limit_of.end())
        request.problem("needs a limit with the same number: devices are given whole");
      else if (device_count(request.node()) != device_count(limit->second.node()))
        request.problem("must be the same number as the limit, {}: devices are given whole",
                        found(limit->second));
    }
  if (limits)
    for (const Value limit : *limits) {
      if (!is_device_kind(limit.key()) || limit.is_null()) continue;
      const auto count = device_count(limit.node());
      if (count.value_or(0) != 0)
        out.push_back({.kind = std::string(limit.key()), .count = *count, .place = &limit.node()});
    }
  return resources.report().problem_count() == before;
}

}  // namespace ocirun::pods
