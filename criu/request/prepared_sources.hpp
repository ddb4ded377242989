#pragma once

#include <span>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "criu/compare/host_mounts.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

// ocirun binds the sources of a container's outside mounts itself, with the attributes of
// config.json, in CRIU's mount namespace, before CRIU runs. There are two reasons. The host is
// read-only for CRIU (read_only_host.hpp), and a volume must not be. In a container with a user
// namespace, CRIU is root of that namespace when it binds the sources: it may be unable to reach a
// source, and root of the container could later clear the protective flags of a bind that CRIU has
// made. The kernel locks the attributes when CRIU's mount namespace is copied for the user
// namespace.

/// Whether CRIU cannot bind the sources even where the host is writable for it: the container has a
/// user namespace, or an id-mapped mount, which CRIU makes no id maps for.
bool needs_prepared_sources(const bundle::Config& config);

/// The directory of the host that a tmpfs with the sources covers in CRIU's mount namespace, and
/// that everybody may search. It holds none of `paths`, which are absolute: CRIU needs these.
/// Errors: each directory that could serve is missing or holds such a path.
Result<std::string> place_for_sources(std::span<const std::string> paths);

/// To be used in CRIU's own mount namespace.
class PreparedSources {
 public:
  /// Clones the sources of `mounts`. Errors name the mount.
  static Result<PreparedSources> open(std::span<const OutsideMount> mounts,
                                      const bundle::Config& config, const linux::Procfs& procfs);
  /// Covers `place` with a tmpfs in which the source of mounts[i] has the name i.
  Result<void> attach(const std::string& place) const;

 private:
  struct Source {
    std::string destination;
    UniqueFd tree;
  };
  std::vector<Source> sources_;
};

}  // namespace ocirun::runtime
