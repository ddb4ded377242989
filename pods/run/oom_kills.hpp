#pragma once

#include <cstdint>
#include <string>

#include "pods/state/record.hpp"

namespace ocirun::pods {

/// Whether SIGKILL came from the supervisor.
enum class Killer : std::uint8_t { kSupervisor, kUnknown };

/// Tells which programs of a pod the kernel has killed because a memory limit was reached.
class OomKills {
 public:
  OomKills() = default;
  /// For a pod whose record names its cgroup. Without a cgroup no kill is told.
  explicit OomKills(const PodRecord& pod) : cgroup_(pod.cgroup), slice_(pod.slice) {}

  /// To be asked when SIGKILL has ended the program of `container`. systemd may have removed the
  /// container's cgroup with its counter by then: a kill that the pod's slice has counted since the
  /// last question is taken for this container's, unless the supervisor has killed it.
  bool include(const ContainerRecord& container, Killer killer);

 private:
  std::string cgroup_of(const ContainerRecord& container) const;

  std::string cgroup_, slice_;
  std::uint64_t told_ = 0;  // kills in the slice that were told
};

}  // namespace ocirun::pods
