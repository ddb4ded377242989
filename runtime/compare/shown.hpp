#pragma once

#include <string>
#include <string_view>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "runtime/compare/host_mounts.hpp"

namespace ocirun::runtime {

/// What a mount table is compared with.
struct ShownExpectation {
  const bundle::Config& config;
  const HostMounts& host;     // allows what config.json gives to the container
  const std::string& cgroup;  // the path of the container's cgroup, "" for none
};

/// Compares each mount of `mountinfo`, the table of a mount namespace. Allowed are: the parts of
/// the host's file systems that config.json gives to the container; file systems that a container
/// can mount itself; cgroups at or below `cgroup`, or any where the container could mount the
/// hierarchy. Mount events of the host reach a mount only where config.json has rslave or rshared.
/// Errors: a sentence that names the mount.
Result<void> compare_shown(const ShownExpectation& wanted, std::string_view mountinfo);

}  // namespace ocirun::runtime
