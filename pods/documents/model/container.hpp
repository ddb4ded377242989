#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bundle/json/document.hpp"
#include "linux/base/ids.hpp"
#include "pods/documents/model/probe.hpp"
#include "pods/documents/model/pull.hpp"
#include "pods/documents/model/security.hpp"

namespace ocirun::pods {

/// The place of a part of the Pod: the value in the document that it was read from. Messages name
/// it. Valid while the document's Source exists.
using Place = const bundle::Node*;

/// The prefix of the name of a config map, which the operator gives like a secret: --secret
/// configmap/NAME=DIR.
inline constexpr std::string_view kConfigMapPrefix = "configmap/";

/// A key of a secret: the file DIR/KEY of --secret ID=DIR, or a key of a document beside the
/// workload (KeyDocument).
struct SecretKey {
  std::string secret;
  std::string key;
  bool is_optional = false;  // if the secret or the key is absent, the variable is not set
};

struct EnvVariable {
  std::string name;
  std::variant<std::string, SecretKey> value;
  Place place = nullptr;
  bool is_literal = false;  // "$(NAME)" in the value is no reference
  std::string field = {};   // fieldPath of Kubernetes, whose value `value` is; "": none
};

/// A secret whose keys become variables. The name of a variable is the prefix and the key.
struct EnvSource {
  std::string secret;
  std::string prefix;
  bool is_optional = false;  // if the secret is absent, no variable is set
  Place place = nullptr;
};

/// A file that is written for the container and bound read-only at `path`. Its content is the value
/// of the parameter, if one is named, else `value` (OAM-16).
struct ConfigFile {
  std::string path;  // absolute
  std::optional<std::string> value;
  std::optional<std::string> parameter;
  Place place = nullptr;
};

/// SCTP is exported, and refused by `pod run`.
enum class Protocol : std::uint8_t { kTcp, kUdp, kSctp };
constexpr std::string_view name_of(Protocol protocol) {
  constexpr std::string_view kNames[] = {"TCP", "UDP", "SCTP"};
  return kNames[static_cast<std::size_t>(protocol)];
}
constexpr std::string_view lower_name_of(Protocol protocol) {
  constexpr std::string_view kNames[] = {"tcp", "udp", "sctp"};
  return kNames[static_cast<std::size_t>(protocol)];
}

/// A port on which the container listens.
struct Port {
  std::string name;  // "": none
  std::uint16_t number = 0;
  Protocol protocol = Protocol::kTcp;
  Place place = nullptr;
  std::uint16_t service = 0;  // the port of a cluster's Service in front (RX-7); 0: `number`
};

struct Mount {
  std::string volume;
  std::string path;  // absolute, in the container
  bool read_only = false;
  Place place = nullptr;
  /// The part of the volume that is mounted, relative to the volume; "": all of it.
  std::string sub_path = {};
};

/// A path at which an App Container expects a volume: that of a mount in the document, or of
/// --volume NAME=DIR (AC-8).
struct MountPoint {
  std::string name;
  std::string path;
  bool read_only = false;
  Place place = nullptr;
};

/// Amounts of resources. CPUs are logical CPUs, fractions allowed; memory is in bytes.
struct Amounts {
  std::optional<double> cpus;
  std::optional<std::uint64_t> memory;
  std::optional<std::uint64_t> storage = {};  // bytes of the pod's directory; only requests
};

/// A resource that --extended NAME=VALUE or CDI devices of the kind `name` provide (OAM-37).
struct ExtendedResource {
  std::string name;  // group/version.Kind
  std::string required;
  Place place = nullptr;
};

/// Devices of one kind that a CDI specification of the host describes.
struct DeviceRequest {
  std::string kind;  // "vendor.com/gpu"
  std::uint32_t count = 0;
  Place place = nullptr;
};

struct Resources {
  Amounts requests;
  Amounts limits;
  double gpus = 0;
  std::vector<ExtendedResource> extended;
  std::vector<DeviceRequest> devices;
  Place place = nullptr;
};

/// seccompProfile of Kubernetes: the filter that a container asks for.
struct SeccompRequest {
  enum class Kind : std::uint8_t {
    kRuntimeDefault,
    kUnconfined,
    kLocalhost,  // `file`, relative to the directory of --seccomp-profiles
  };
  Kind kind = Kind::kRuntimeDefault;
  std::string file;
  Place place = nullptr;
};

/// An OCI bundle of the operator, which is run instead of an image.
struct BundleSource {
  std::string directory;  // absolute
  bool keeps_user_namespace = true;
};

struct Container {
  std::string name;
  std::string image;                                // a reference, or an App Container image id
  std::string image_name;                           // AC-6: the name of the image, if it has one
  std::map<std::string, std::string> image_labels;  // AC-6
  std::optional<PullSecret> pull_secret;            // nothing: the pod's
  std::optional<PullPolicy> pull_policy;            // imagePullPolicy of Kubernetes
  std::optional<std::vector<std::string>> command;  // replaces the image's Entrypoint
  std::optional<std::vector<std::string>> args;     // replaces the image's Cmd
  std::string working_directory;                    // "": the image's
  std::string user, group;                          // "": the image's; numbers or names
  std::vector<Gid> extra_groups;
  bool forbid_root = false;
  std::vector<EnvSource> env_sources;
  std::vector<EnvVariable> env;  // takes precedence over env_sources
  std::vector<ConfigFile> config_files;
  std::vector<Mount> mounts;
  std::vector<MountPoint> mount_points;
  std::vector<Port> ports;
  Resources resources;
  std::optional<Probe> liveness, readiness, startup;
  bool read_only_root = false;
  Security security;
  std::optional<SeccompRequest> seccomp;
  std::vector<std::string> starts_after;  // the containers that must have been started before
  std::map<std::string, std::string> annotations;
  std::optional<BundleSource> bundle;
  Place place = nullptr, image_place = nullptr;
};

}  // namespace ocirun::pods
