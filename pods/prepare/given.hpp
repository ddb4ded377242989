#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "linux/base/paths.hpp"
#include "pods/documents/workload.hpp"
#include "pods/plan/bindings.hpp"
#include "pods/plan/bundle.hpp"

namespace ocirun::pods {

/// --volume NAME=HOSTDIR[:ro]
struct VolumeBinding {
  HostPath directory;
  bool read_only = false;
};

/// What the operator says on the command line, for what a document leaves open or for what is to be
/// otherwise than in the document.
struct Given {
  Bindings bindings;                             // --param, --secret
  std::map<std::string, VolumeBinding> volumes;  // --volume
  std::map<std::string, std::string> images;     // --image NAME=SOURCE
  std::string image_directory;                   // --images; "": none
  std::map<std::string, std::string> extended;   // --extended
  Requests requests = Requests::kWeights;        // --enforce-required
  std::string user;                              // --user, for all containers; "": the document's
  bool forbid_root = false;                      // --forbid-root
  bool read_only_root = false;                   // --read-only
  SeccompChoice seccomp;                         // --seccomp
  std::string seccomp_profiles = "/var/lib/kubelet/seccomp";  // --seccomp-profiles
  std::optional<std::uint16_t> port;  // --port: on which a Knative container listens
  std::optional<Restart> restart;     // --restart
};

/// Puts into `pod` what replaces parts of it: user, root, port, rule of restart. Errors: --port for
/// a document that is not Knative's.
Result<void> replace_parts(const Given& given, Pod& pod);

/// Checks that everything a document only names is given, and that nothing is given that the
/// document does not name (a mistyped --volume must not go unnoticed). The error lists all.
Result<void> check_given(const Given& given, const Workload& workload);

/// The filter of a container: what its document asks for, else --seccomp. Errors: a profile of
/// Kubernetes' type Localhost that cannot be read.
Result<SeccompChoice> seccomp_of(const Container& container, const Given& given);

}  // namespace ocirun::pods
