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

/// Writes the config files of a container (OAM-16) below the directory of the container, whose path
/// is `path`. Returns the read-only binds that show them in the container.
Result<std::vector<BoundPath>> write_config_files(const Container& container, const Given& given,
                                                  Fd directory, const std::string& path);

/// A line of /etc/hosts.
struct HostLine {
  std::string address, name;
};
/// The text of /etc/hosts: the loopback addresses, and `lines`.
std::string hosts_text(const std::vector<HostLine>& lines);

/// Whether the containers of a pod see the network of the host.
enum class Network : std::uint8_t { kOwn, kHost };

/// Writes /etc/hosts, /etc/hostname and /etc/resolv.conf (KN-9) of a pod into `directory`, whose
/// path is `path`. Returns the binds that show them in the containers. If the pod has a network of
/// its own, leaves out name servers at loopback addresses, which are the host's.
Result<std::vector<BoundPath>> write_network_files(const std::string& pod_name, Network network,
                                                   Fd directory, const std::string& path);

/// Writes keys of a secret or a config map as files below the empty directory `directory`: the
/// items of `volume`, or all keys if it has no items. Items of one key and one mode are one file
/// with several names. Adds the bytes of the files to `copied`. Errors: a key is absent and the
/// volume is not optional; a key cannot be the name of a file; `copied` is above kMostCopied.
Result<void> write_key_files(const Volume& volume, const std::map<std::string, std::string>& keys,
                             Fd directory, std::size_t& copied);

}  // namespace ocirun::pods
