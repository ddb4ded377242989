#pragma once

#include <span>
#include <utility>
#include <vector>

#include "cgroups/hierarchies/node.hpp"
#include "linux/base/error.hpp"
#include "shim/metrics/metrics.hpp"

namespace ocirun::shim {

/// The cgroup that a process was in when of() looked: a node for each hierarchy that the host
/// mounts. A container's init may move itself into a nested cgroup (systemd does), so that only the
/// cgroup of an init that has not been started yet is the whole container's.
class ProcessCgroup {
 public:
  /// `pid` is a pid of the caller's pid namespace. Errors: ENOENT or ESRCH: the process has ended,
  /// or, on a host with a hierarchy of v1, is ending: the kernel then tells the root cgroup in its
  /// place.
  static Result<ProcessCgroup> of(int pid);

  /// The statistics now: pack_v2() on a host that mounts the unified hierarchy alone, else
  /// pack_v1(). Keeps no descriptor open. Errors: ENOENT: the cgroup is gone; EMFILE, ENFILE,
  /// ENOMEM.
  Result<PackedMetrics> metrics() const;
  /// For OomWatch::open() and count_oom_kills().
  std::span<const cgroups::Node> nodes() const { return nodes_; }

 private:
  ProcessCgroup(std::vector<cgroups::Node> nodes, bool pure_v2)
      : nodes_(std::move(nodes)), pure_v2_(pure_v2) {}
  std::vector<cgroups::Node> nodes_;
  bool pure_v2_;
};

/// The statistics of the cgroup that the process is in now. Errors: those of ProcessCgroup.
Result<PackedMetrics> read_metrics(int pid);

}  // namespace ocirun::shim
