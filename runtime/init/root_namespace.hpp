#pragma once

#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// Whether init may build the root filesystem in a mount namespace that shows nothing of the host
/// (linux/mounts/root_namespace.hpp). The container then has a new mount namespace and no user
/// namespace, in which the kernel would refuse a new procfs without another one in sight. No hook
/// runs before the change of the root. Each mount is a bind whose tree does not send mount events
/// to the host, or a filesystem that needs no file of the host.
bool fits_root_namespace(const bundle::Config& config);

/// The files of the host that init needs in a root namespace.
struct HostSources {
  std::vector<UniqueFd> binds;  // by index of the mounts: clones of the sources, isolated
  UniqueFd null_mount;          // empty if no path is masked
  std::string mount_label;      // "" where SELinux is off
};

/// Opens these files. Errors: those of open_bind_source() and clone_bind(); a source lies below the
/// root filesystem, where an earlier mount of the container may cover the source (M-3).
Result<HostSources> open_host_sources(const bundle::Config& config, const linux::Procfs& procfs);

}  // namespace ocirun::runtime
