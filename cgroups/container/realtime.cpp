#include "cgroups/container/realtime.hpp"

#include <fmt/format.h>

#include "cgroups/hierarchies/placement.hpp"
#include "cgroups/hierarchies/text.hpp"

namespace ocirun::cgroups {
namespace {

constexpr const char* kRuntime = "cpu.rt_runtime_us";
constexpr const char* kPeriod = "cpu.rt_period_us";

}  // namespace

void make_room_for_realtime(const Node& node, std::string_view runtime) {
  const std::string_view below = std::string_view(node.path()).substr(node.mount_point().size());
  const Result<const Directory*> directory = node.directory();
  const auto asked = number(runtime);
  if (!directory || !asked || !below.starts_with(fmt::format("{}/", kOwnParent))) return;
  const auto period = number((*directory)->read_or_empty(kPeriod));
  if (!period || *period == 0) return;

  std::size_t end = node.mount_point().size();
  while ((end = node.path().find('/', end + 1)) != std::string::npos) {
    const Result<Directory> parent = Directory::open(node.path().substr(0, end));
    if (!parent) return;
    const auto now = number(parent->read_or_empty(kRuntime));
    const auto parent_period = number(parent->read_or_empty(kPeriod));
    if (!now || !parent_period) return;
    // The container's share of its period, applied to the parent's period and rounded up.
    const double share = static_cast<double>(*asked) / static_cast<double>(*period);
    const auto more = static_cast<std::uint64_t>(share * static_cast<double>(*parent_period)) + 1;
    // If the parent refuses, the later write to the container's own file reports the error.
    if (!parent->write(kRuntime, fmt::to_string(*now + more))) return;
  }
}

}  // namespace ocirun::cgroups
