#pragma once

#include <functional>
#include <span>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

/// The namespaces of a process that CRIU has made, before CRIU restores anything into them.
struct NewNamespaces {
  const bundle::Config& config;
  const linux::Procfs& procfs;
  int init = 0;
  std::span<const linux::PinnedNamespace> joined;

  /// Checks, before anything is done in the namespaces, that those that config.json asks for are
  /// new, and that joined ones are those that it names. CRIU makes cgroup and time namespaces
  /// later.
  Result<void> compare() const;
  /// Does in the namespaces what `create` does: sets the loopback device of a new network namespace
  /// up, and writes the sysctls that belong to no network device. Without CAP_SYS_ADMIN in the
  /// container, sets the host and domain names of config.json. CRIU may replace all of these by
  /// what it has saved.
  Result<void> set_up() const;
  /// Writes the sysctls of network devices, which hooks may have made meanwhile.
  Result<void> write_device_sysctls() const;

 private:
  Result<void> work_inside(
      const std::function<Result<void>(const linux::Procfs& full)>& work) const;
};

/// Makes the root of the mount namespace of the stopped process `pid` read-only. CRIU does not
/// restore that attribute, and needs a root that can be written to until all mounts are restored.
/// Errors: EBUSY: a process has a file below the root open for writing.
Result<void> make_root_read_only(const linux::Procfs& procfs, int pid);

}  // namespace ocirun::runtime
