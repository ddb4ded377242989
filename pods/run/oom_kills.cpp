#include "pods/run/oom_kills.hpp"

#include <algorithm>
#include <utility>

#include "pods/surroundings/pod_cgroup.hpp"
#include "pods/surroundings/pod_slice.hpp"

namespace ocirun::pods {

std::string OomKills::cgroup_of(const ContainerRecord& container) const {
  if (slice_.empty()) return fmt::format("{}/{}", cgroup_, container.name);
  return fmt::format("{}/{}", cgroup_, scope_name_for(container.id));
}

bool OomKills::include(const ContainerRecord& container, Killer killer) {
  if (cgroup_.empty()) return false;
  const std::uint64_t own = count_oom_kills(cgroup_of(container));
  told_ += own;
  if (own != 0 || slice_.empty() || killer == Killer::kSupervisor) return own != 0;
  const std::uint64_t now = count_oom_kills(cgroup_);
  return std::exchange(told_, std::max(told_, now)) < now;
}

}  // namespace ocirun::pods
