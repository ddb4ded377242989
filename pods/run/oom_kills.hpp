#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cgroups/container/oom_watch.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

/// The processes of a pod that the kernel has killed because a memory limit was reached.
class PodOomKills {
 public:
  /// For a pod whose record names its cgroup. Without a cgroup no kill is told.
  explicit PodOomKills(const PodRecord& pod) : cgroup_(pod.cgroup), slice_(pod.slice) {}

  /// The path of a container's cgroup; "": it has none that is known.
  std::string cgroup_of(const ContainerRecord& container) const;
  /// Kills of a container have been told.
  void tell(std::uint64_t kills) { told_ += kills; }
  /// systemd may have removed the cgroup of a container with its counter before it was read:
  /// whether the pod's slice has counted a kill that no container has told. It counts as told then.
  bool take_untold();

 private:
  std::string cgroup_, slice_;
  std::uint64_t told_ = 0;
};

/// The kills of one container, from the creation of its cgroup to the end of its program.
class OomKills {
 public:
  using Clock = std::chrono::steady_clock;

  explicit OomKills(PodOomKills& pod) : pod_(pod) {}

  /// The container has been created.
  void begin(const ContainerRecord& container);
  /// Adds the descriptor that tells of want of memory.
  void add_wanted(std::vector<pollfd>& watched) const;
  /// How many processes were killed since the last call. Reads counters only when there is news.
  std::uint64_t look(Clock::time_point now);
  /// When look() has something to do, though nothing is told.
  Clock::time_point next() const { return again_; }
  /// The supervisor is about to kill the program: only later kills are the program's end.
  void expect_sigkill();
  /// The program has ended, and its cgroup may go: how many processes were killed since the last
  /// look, and whether the program was among them, if SIGKILL was its end.
  struct Last {
    std::uint64_t kills = 0;
    bool program = false;
  };
  Last end(bool by_sigkill);

 private:
  std::uint64_t count();

  PodOomKills& pod_;
  std::string cgroup_;
  std::optional<cgroups::OomWatch> watch_;
  std::uint64_t seen_ = 0;                       // in this cgroup
  std::optional<std::uint64_t> before_sigkill_;  // of them, when the supervisor killed the program
  std::chrono::milliseconds pause_{0};
  Clock::time_point again_ = Clock::time_point::max();
};

}  // namespace ocirun::pods
