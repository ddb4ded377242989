#pragma once

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/base/log.hpp"
#include "runtime/checkpoint/options.hpp"

namespace ocirun::runtime {

// CRIU restores what was in a network namespace by programs of the host (iptables-restore, ip, nft)
// that read the images, and makes devices that hooks and linux.netDevices make as well. So ocirun
// saves and restores none of it without --keep-network, as runc does.

/// Error: --keep-network, and the images have no network devices. A warning: the other way round.
/// Nothing is compared for a container that joins a network namespace or has the host's.
Result<void> check_network_images(Fd images, const bundle::Config& config,
                                  const CriuSettings& settings, const Log& log);

}  // namespace ocirun::runtime
