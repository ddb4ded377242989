#pragma once

#include <memory>
#include <string>

#include "cgroups/container/host_cgroup.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "cgroups/hierarchies/unit_names.hpp"
#include "cgroups/systemd/limits.hpp"

namespace ocirun::cgroups {

/// A transient slice of systemd's, which limits all scopes below it together. systemd alone writes
/// to its cgroup, and rounds a quota of CPU time up to whole percents of one CPU.
class Slice {
 public:
  /// Finds the place of the slice `unit` ("a-b.slice"): looks up, without creating it, the cgroup
  /// of systemd's slices. Errors: `unit` names no slice; no systemd; an ordinary user on cgroup v1,
  /// where no controller can be delegated.
  static Result<Slice> find(const Layout& layout, const std::string& unit,
                            SystemdInstance instance);
  /// The slice that an earlier find() found; `path` is the path() of that slice.
  Slice(const Layout& layout, const std::string& path, SystemdInstance instance);

  /// The slice's cgroup, below each mount point. The last part is the slice's name.
  const std::string& path() const { return host_->record().path; }

  /// Starts the slice. An active slice of that name, which no process is in, is stopped first.
  /// Errors: processes are in the slice; those of D-Bus; a limit whose controller the host lacks.
  Result<void> create(const std::string& description, const Resources& limits);
  /// Kills all processes in the slice, stops it, and removes its cgroup with all nested cgroups.
  /// A missing slice is no error. Succeeds also when the bus does not answer.
  Result<void> destroy();

 private:
  std::string unit() const;

  std::unique_ptr<HostCgroup> host_;
  CgroupVersion version_;
  SystemdInstance instance_;
};

}  // namespace ocirun::cgroups
