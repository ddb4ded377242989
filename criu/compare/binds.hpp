#pragma once

#include <span>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "criu/compare/container_root.hpp"
#include "criu/dump/images.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Compares binds of the document with the restored ones.
struct BindComparison {
  const bundle::Config& config;
  std::span<const UniqueFd> sources;   // of the document's mounts; empty for those that are no bind
  std::span<const ImageMount> images;  // the mounts of the images
  const ContainerRoot& root;

  /// Compares what `found`, the restored mount number `index`, shows: the file is the source, and
  /// the mount is id-mapped as in the document. The kernel does not tell the map of a mount. ocirun
  /// gives CRIU mounts that have the maps of the document, and the images say which of them goes
  /// where: an id-mapped one goes to its own destination, and no other mount covers that. Errors: a
  /// sentence that names the mount.
  Result<void> compare(const FoundFile& found, std::size_t index) const;

  /// Compares a mount on `point`, below a recursive bind: the host has the file at this place below
  /// the source. The mount has the host's options ro, nosuid, nodev and noexec, and those that the
  /// document gives to all mounts there; it shows the owner that it shall.
  Result<void> compare_below(const std::string& point) const;
};

}  // namespace ocirun::runtime
