#pragma once

#include <map>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/documents/workload.hpp"
#include "pods/model/pod.hpp"
#include "pods/plan/bundle.hpp"
#include "pods/prepare/given.hpp"

namespace ocirun::pods {

/// Writes the config files of a container (OAM-16) below its directory, whose path is `path`, and
/// returns where they are to be bound, read-only.
Result<std::vector<BoundPath>> write_config_files(const Container& container, const Given& given,
                                                  Fd directory, const std::string& path);

/// Whether the containers of a pod see the network of the host.
enum class Network : std::uint8_t { kOwn, kHost };

/// Writes /etc/hosts, /etc/hostname and /etc/resolv.conf (KN-9) of a pod into `directory`, whose
/// path is `path`, and returns where they are to be bound. Name servers at loopback addresses of
/// the host are left out of a network of the pod's own, where nobody answers there.
Result<std::vector<BoundPath>> write_network_files(const std::string& pod_name, Network network,
                                                   Fd directory, const std::string& path);

/// Writes the keys of a secret or a config map as files below the empty directory `directory`: the
/// items of `volume`, or all. Errors: a key is absent, unless the volume is optional; a key that is
/// no name of a file.
Result<void> write_key_files(const Volume& volume, const std::map<std::string, std::string>& keys,
                             Fd directory);

}  // namespace ocirun::pods
