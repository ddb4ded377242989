#pragma once

#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "runtime/compare/host_mounts.hpp"
#include "runtime/images/inventory.hpp"

namespace ocirun::runtime {

/// What the mounts of a restored container are compared with, from outside of its mount namespace.
struct HostFiles {
  UniqueFd rootfs;
  std::vector<UniqueFd> sources;   // of the document's mounts; empty for those that have none
  std::vector<ImageMount> images;  // of all mount namespaces, if a bind is id-mapped
  HostMounts mounts;               // allows the root filesystem, the sources and devices
};
/// To be called in the host's mount namespace. Errors: a source is missing; an image is damaged.
Result<HostFiles> open_host_files(const bundle::Config& config, const linux::Procfs& procfs,
                                  Fd images);

}  // namespace ocirun::runtime
