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

/// The path of a container's cgroup; "" if none is known.
std::string cgroup_of(const PodRecord& pod, const ContainerRecord& container);

/// The kills that a pod's slice has counted, and that none of its containers has reported.
class UnreportedKills {
 public:
  using Clock = std::chrono::steady_clock;

  /// `counted`: the kills that the slice has counted until now. They count as reported.
  explicit UnreportedKills(std::uint64_t counted) : reported_(counted) {}

  /// Adds kills that a container has reported.
  void report(std::uint64_t kills) { reported_ += kills; }
  /// Whether one of the `counted` kills of the slice is unreported, and counts this kill as
  /// reported. A call that comes more than two seconds after the last call first forgets the
  /// unreported kills that the last call saw: these have ended other processes than containers'
  /// programs.
  bool take(std::uint64_t counted, Clock::time_point now);

 private:
  std::uint64_t reported_ = 0;
  std::uint64_t last_count_ = 0;
  Clock::time_point last_call_{};
};

/// The processes of a pod that the kernel has killed because a memory limit was reached.
class PodOomKills {
 public:
  using Clock = UnreportedKills::Clock;

  /// The record names the cgroup of the pod, and has to outlive this object. Without a cgroup no
  /// kill is counted. Kills of an adopted pod before its adoption are not counted.
  explicit PodOomKills(const PodRecord& pod);

  std::string cgroup_of(const ContainerRecord& container) const {
    return pods::cgroup_of(pod_, container);
  }
  /// Adds kills that a container has reported.
  void report(std::uint64_t kills) { unreported_.report(kills); }
  /// Whether the pod's slice has counted a kill that no container has reported, because systemd has
  /// removed the container's cgroup before its counter was read. See UnreportedKills::take().
  bool take_unreported(Clock::time_point now);

 private:
  const PodRecord& pod_;
  UnreportedKills unreported_;
};

/// The kills of one container, from the creation of its cgroup to the end of its program.
class OomKills {
 public:
  using Clock = PodOomKills::Clock;

  explicit OomKills(PodOomKills& pod) : pod_(pod) {}

  /// Must be called when the container has been created.
  void begin(const ContainerRecord& container);
  /// Must be called instead of begin() for a container of a supervisor that was killed. Kills of
  /// the time without a supervisor are not counted.
  void resume(const ContainerRecord& container);
  /// Adds the descriptor that tells of a lack of memory.
  void add_wanted(std::vector<pollfd>& watched) const;
  /// Returns how many processes were killed since the last call. Reads counters only after an
  /// event.
  std::uint64_t look(Clock::time_point now);
  /// The next time when look() has something to do without an event.
  Clock::time_point next() const { return again_; }
  /// Must be called before the supervisor kills the program. Only a later kill by the kernel can
  /// then be the end of the program.
  void expect_sigkill();
  struct Last {
    std::uint64_t kills = 0;
    bool program = false;
  };
  /// Must be called when the program has ended, before its cgroup is removed. Returns how many
  /// processes were killed since the last look(), and whether the program was one of them.
  /// `by_sigkill`: SIGKILL has ended the program.
  Last end(bool by_sigkill, Clock::time_point now);

 private:
  std::uint64_t count();

  PodOomKills& pod_;
  std::string cgroup_;
  std::optional<cgroups::OomWatch> watch_;
  std::uint64_t seen_ = 0;  // kills in cgroup_ that count() has read
  std::optional<std::uint64_t>
      before_sigkill_;  // kills that were seen when the supervisor killed the program
  std::chrono::milliseconds pause_{0};
  Clock::time_point again_ = Clock::time_point::max();
};

}  // namespace ocirun::pods
