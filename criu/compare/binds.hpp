#pragma once

#include <span>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "criu/compare/container_root.hpp"
#include "criu/compare/host_mounts.hpp"
#include "criu/dump/images.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Compares binds of the document with the restored ones.
struct BindComparison {
  const bundle::Config& config;
  std::span<const UniqueFd> sources;   // by the index of the mount; empty for one that is no bind
  std::span<const ImageMount> images;  // the mounts of the images
  const ContainerRoot& root;
  const HostMounts& host;
  const linux::Procfs& procfs;  // the runtime's

  /// Compares `found`, a restored mount, with the entry `index` of /mounts: the mount shows the
  /// source, and is id-mapped as in the document. The kernel does not tell the map of a mount.
  /// ocirun gives CRIU mounts that have the maps of the document, and the images say where CRIU
  /// puts each of them. So the images must put an id-mapped mount on its own destination, and no
  /// other mount may cover it. Errors: a sentence that names the mount.
  Result<void> compare(const FoundFile& found, std::size_t index) const;

  /// Compares a mount on `point`, below a recursive bind: the host has the file at this place below
  /// the source. The mount has the options ro, nosuid, nodev and noexec of the host, and those that
  /// the document gives to all mounts of the recursive bind. It shows the owner of the host's file,
  /// mapped if the bind is id-mapped recursively, and is id-mapped if the bind or the host's mount
  /// is.
  Result<void> compare_below(const std::string& point) const;
};

}  // namespace ocirun::runtime
