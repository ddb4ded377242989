#pragma once

#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/namespaces/id_map.hpp"
#include "pods/model/pod.hpp"
#include "pods/model/security.hpp"
#include "pods/plan/launch.hpp"
#include "pods/plan/seccomp.hpp"

namespace ocirun::pods {

/// A directory or a file of the host that a container sees at `destination`.
struct BoundPath {
  std::string source;
  std::string destination;
  bool read_only = false;
  bool recursive = true;
};

/// A tmpfs in a container.
struct MemoryDirectory {
  std::string destination;
  mode_t mode = 0777;
  std::optional<std::uint64_t> most_bytes;
};

/// The namespaces that the containers of a pod share, by path ("/proc/7/ns/net"). "": each
/// container has one of its own.
struct SharedNamespaces {
  std::string network, ipc, uts, pid;
  bool host_network = false;  // instead of `network`
};

/// How requests become limits. kWeights: CPU requests are a weight, memory requests a soft limit.
/// kHard: they are limits as well (--enforce-required).
enum class Requests : std::uint8_t { kWeights, kHard };

/// What a container can have where it is made. In a user namespace some of these are missing.
struct Powers {
  bool cgroup = true;        // else its resources are left out, which somebody has accepted
  bool device_rules = true;  // in the cgroup; only the host's root may set them
  bool tty_group = true;     // the group 5, which terminals belong to
  SetGroups set_groups = SetGroups::kAllowed;
  bool sysfs = true;  // else it sees the host's: of a network that is not of its user namespace
};

/// All that the config.json of one container is written from.
struct BundlePlan {
  Launch launch;
  std::string root;  // the path of the root filesystem, absolute or relative to the bundle
  bool read_only_root = false;
  std::string hostname;
  std::vector<BoundPath> bound;
  std::vector<MemoryDirectory> in_memory;
  SharedNamespaces shared;
  std::string cgroups_path;
  Resources resources;
  Requests requests = Requests::kWeights;
  Security security;
  SeccompChoice seccomp;
  Powers powers;
  linux::IdMap ids;  // of a user namespace of its own; empty: it has none
};

/// The text of config.json, for any runtime of specification 1.0.2 or later. Errors: a capability,
/// an error or a set of system calls with an unknown name.
Result<std::string> config_text(const BundlePlan& plan);

}  // namespace ocirun::pods
