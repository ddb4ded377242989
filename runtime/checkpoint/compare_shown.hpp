#pragma once

#include <string>
#include <string_view>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "runtime/checkpoint/host_mounts.hpp"

namespace ocirun::runtime {

/// What a mount table is compared with.
struct ShownExpectation {
  const bundle::Config& config;
  const HostMounts& host;     // allows what config.json gives to the container
  const std::string& cgroup;  // the path of the container's cgroup, "" for none
};

/// Compares `mountinfo`, the table of a mount namespace, with what a container may show of the host
/// however it has mounted: no file system of the host but the parts that config.json gives it; none
/// that no container can make; no cgroup above its own, if it cannot mount the hierarchy itself. No
/// mount hears of the host's mounts unless config.json wants that. Errors: a sentence that names
/// the mount.
Result<void> compare_shown(const ShownExpectation& wanted, std::string_view mountinfo);

}  // namespace ocirun::runtime
