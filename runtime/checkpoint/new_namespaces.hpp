#pragma once

#include <span>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/namespaces/sysctl.hpp"

namespace ocirun::runtime {

/// The namespaces of a process that CRIU has made, before CRIU restores anything into them.
struct NewNamespaces {
  const bundle::Config& config;
  const linux::Procfs& procfs;
  int init = 0;
  std::span<const linux::PinnedNamespace> joined;

  /// Does in them what `create` does: sets the loopback device of a new network namespace up, and
  /// writes the sysctls that belong to no network device. What CRIU saved of them replaces the
  /// values afterwards.
  Result<void> set_up() const;
  /// Writes the sysctls of network devices, which hooks may have made meanwhile.
  Result<void> set_devices_up() const;

 private:
  Result<void> write_inside(std::span<const linux::Sysctl> sysctls, bool has_new_network) const;
};

}  // namespace ocirun::runtime
