#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linux/base/paths.hpp"
#include "pods/documents/model/device_names.hpp"
#include "pods/documents/workload.hpp"
#include "pods/images/registry/options.hpp"
#include "pods/prepare/devices/registry.hpp"
#include "pods/prepare/plan/bindings.hpp"
#include "pods/prepare/plan/bundle.hpp"

namespace ocirun::pods {

/// --volume NAME=HOSTPATH[:ro], or --volume NAME[:ro] for a volume that ocirun keeps
struct VolumeBinding {
  HostPath directory;
  bool read_only = false;
  bool is_kept = false;  // `directory` is a kept_volume_path()
};

/// The options of the command line that complete a document, or replace parts of it.
struct Given {
  Bindings bindings;                             // --param, --secret
  std::map<std::string, VolumeBinding> volumes;  // --volume
  std::map<std::string, VolumeBinding> claims;   // of keep_claims(), by the names of volumes
  std::map<std::string, std::string> images;     // --image NAME=SOURCE
  std::string image_directory;                   // --images; "": none
  Pulling pulling;                               // --pull, --pull-secret …
  std::map<std::string, std::string> extended;   // --extended
  std::vector<NamedDevice> devices;              // --device
  DeviceDirectories cdi;                         // --cdi
  std::vector<std::pair<std::string, std::string>> variables;  // --env, --env-file
  std::map<std::string, std::string> labels;                   // --label
  Requests requests = Requests::kWeights;                      // --enforce-required
  std::string user;             // --user, for all containers; "": what the document says
  bool forbid_root = false;     // --forbid-root
  bool read_only_root = false;  // --read-only
  SeccompChoice seccomp;        // --seccomp
  std::string seccomp_profiles = "/var/lib/kubelet/seccomp";  // --seccomp-profiles
  std::optional<std::uint16_t> port;  // --port: on which a Knative container listens
  std::optional<Restart> restart;     // --restart
};

/// Applies --user, --forbid-root, --read-only, --port, --restart, --env and --label to `pod`. A
/// variable of --env takes the place of the document's, and "$(NAME)" in it stays as it is. Errors:
/// --port for a document that is not Knative's.
Result<void> replace_parts(const Given& given, Pod& pod);

/// Gives each volume of which the document has only a claim (PersistentVolumeClaim) a directory
/// below `data`, the directory of --data, as --volume CLAIM does. Errors: the claim's name is no
/// name of such a directory.
Result<void> keep_claims(const HostPath& data, const Workload& workload, Given& given);

/// Where a workload will run: on this machine, on Kubernetes (kManyMachines), or on Docker Swarm
/// (kSwarm). The last two have their own secrets, volumes, devices and images. kRunning: the
/// workload runs on this machine already, so that its options are not checked again: the files that
/// they name may have changed.
enum class Audience : std::uint8_t { kThisMachine, kManyMachines, kSwarm, kRunning };

/// Checks that the options give everything that the document only names, and nothing that it does
/// not name (such as a mistyped --volume). The error lists all faults.
Result<void> check_given(const Given& given, const Workload& workload,
                         Audience audience = Audience::kThisMachine);

/// The seccomp filter of a container: the one that the document asks for, else --seccomp. Errors: a
/// profile of Kubernetes' type Localhost cannot be read.
Result<SeccompChoice> seccomp_of(const Container& container, const Given& given);

}  // namespace ocirun::pods
