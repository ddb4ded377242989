#pragma once

#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// The files of the host that init needs in a root namespace (linux/mounts/root_namespace.hpp).
struct HostSources {
  std::vector<UniqueFd> binds;  // for each mount of config.json: a bind's source cloned, or empty
  UniqueFd null_mount;          // empty if no path is masked
  std::string mount_label;      // "" where SELinux is off
};

/// Opens the files of HostSources. The clones get no mount events of the host, except those of
/// linux::wants_early_open(). Errors: those of open_bind_source() and clone_bind(); a source lies
/// below the root filesystem, where an earlier mount of the container may cover the source (M-3).
Result<HostSources> open_host_sources(const bundle::Config& config, const linux::Procfs& procfs);

}  // namespace ocirun::runtime
