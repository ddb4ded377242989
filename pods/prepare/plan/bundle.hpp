#pragma once

#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/namespaces/id_map.hpp"
#include "pods/documents/model/pod.hpp"
#include "pods/documents/model/security.hpp"
#include "pods/prepare/devices/edits.hpp"
#include "pods/prepare/plan/launch.hpp"
#include "pods/prepare/plan/seccomp.hpp"

namespace ocirun::pods {

/// A directory or a file of the host that a container sees at `destination`.
struct BoundPath {
  std::string source;
  std::string destination;
  bool read_only = false;
  bool recursive = true;
};

/// A device of the host that a container may open, because it is bound into the container.
struct AllowedDevice {
  char type = 'c';  // or 'b'
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::string access;  // "r" or "rw"
};

/// A tmpfs in a container.
struct MemoryDirectory {
  std::string destination;
  mode_t mode = 0777;
  std::optional<std::uint64_t> most_bytes;
};

/// The paths of the namespaces that the containers of a pod share ("/proc/7/ns/net"). "": each
/// container has its own.
struct SharedNamespaces {
  std::string network, ipc, uts, pid;
  bool host_network = false;  // `network` is not used: the containers are on the host's network
};

/// How ocirun enforces requests. kWeights: a CPU request is a weight, a memory request a soft
/// limit. kHard: both are also hard limits (--enforce-required).
enum class Requests : std::uint8_t { kWeights, kHard };

/// What the user namespace lets a container have.
struct Powers {
  bool cgroup = true;        // if not, its resource limits are left out
  bool device_rules = true;  // device rules in the cgroup, which only the host's root may set
  bool device_nodes = true;  // device nodes can be made; if not, the host's are bound
  bool tty_group = true;     // the group 5, which owns terminals
  SetGroups set_groups = SetGroups::kAllowed;
  bool sysfs = true;  // a sysfs of its own; if not, the container sees the host's, because its
                      // network namespace belongs to another user namespace
};

/// Everything that config.json of one container is written from.
struct BundlePlan {
  Launch launch;
  std::string root;  // the path of the root filesystem, absolute or relative to the bundle
  bool read_only_root = false;
  std::string hostname;
  std::vector<BoundPath> bound;
  std::vector<AllowedDevice> bound_devices;
  std::vector<MemoryDirectory> in_memory;
  SharedNamespaces shared;
  std::string cgroups_path;
  Resources resources;
  Requests requests = Requests::kWeights;
  Security security;
  SeccompChoice seccomp;
  Powers powers;
  ReadyEdits devices;  // of CDI
  linux::IdMap ids;    // of a user namespace of the container; empty: it gets none
};

/// Writes config.json for any runtime of specification 1.0.2 or later. Errors: an unknown name of a
/// capability, an errno, or a set of system calls.
Result<std::string> config_text(const BundlePlan& plan);

}  // namespace ocirun::pods
