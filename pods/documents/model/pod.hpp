#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pods/documents/model/connection.hpp"
#include "pods/documents/model/container.hpp"
#include "pods/documents/model/host_type.hpp"
#include "pods/documents/model/scaling.hpp"

namespace ocirun::pods {

/// A port of the host that leads to a port of the pod (AC-20).
struct HostPort {
  std::string name;  // the name of a port of a container, unless `pod_port` is given
  std::uint16_t number = 0;
  std::string address;  // IPv4, with --publish also IPv6; "": all addresses
  std::optional<Port> pod_port;
  Place place = nullptr;
  bool is_of_service = false;  // a Service of Kubernetes opens the port
};

/// A key of a secret or a config map that becomes the file `path` of a volume.
struct KeyFile {
  std::string key;
  std::string path;            // relative to the volume
  std::optional<mode_t> mode;  // nothing: that of the volume's files
  Place place = nullptr;
};

/// A directory that containers of the pod mount.
struct Volume {
  enum class Source : std::uint8_t {
    kEmpty,     // made for the pod and removed with the pod
    kHost,      // `source` is a path of the host that the document names
    kOperator,  // --volume `source`=HOSTPATH
    kSecret,    // --secret `source`=DIR or a KeyDocument, read-only
  };
  std::string name;
  Source kind = Source::kEmpty;
  std::string source;
  HostType host_type = HostType::kAny;  // kHost
  bool read_only = false;
  bool recursive = true;   // kHost: with the mounts below it
  bool exclusive = false;  // only one container of one pod may use the volume at a time (OAM-35)
  std::string_view exclusive_by = "sharingPolicy is Exclusive";  // for messages
  bool shares_with_all =
      false;  // is mounted read-only, even while another pod has the volume exclusively
  std::optional<std::uint64_t> least_bytes;  // the free space that the volume requires (OAM-36)
  std::optional<std::uint64_t> most_bytes;   // kEmpty: its size
  bool in_memory = false;                    // kEmpty: a tmpfs
  mode_t mode = 0755;                        // kEmpty: of the directory; its owner:
  Uid uid;
  Gid gid;
  Place place = nullptr;
  std::optional<std::vector<KeyFile>>
      items;                        // kSecret: the keys that become files; nothing: all keys
  std::optional<mode_t> file_mode;  // kSecret: of the files
  bool is_optional = false;         // kSecret: if the secret is absent, the volume is empty
  bool is_claimed = false;   // kOperator: ocirun keeps the volume, unless --volume names another
  std::optional<Gid> group;  // of the volume's files, which its members can read and write
};

/// A ConfigMap or a Secret that stands beside the workload.
struct KeyDocument {
  struct Key {
    std::string bytes;
    bool is_binary = false;  // from binaryData: can become a file, but not a variable
  };
  std::map<std::string, Key> keys;
  Place place = nullptr;
};

enum class Kind : std::uint8_t { kOam, kAppc, kKnative, kRadius, kKubernetes };
enum class Restart : std::uint8_t { kNever, kOnFailure, kAlways };

/// The environment that the Knative contract promises (KN-2).
struct KnativeNames {
  std::string service, configuration, revision;
};

/// Labels and annotations of an object. A label and an annotation may have the same key.
struct Metadata {
  std::map<std::string, std::string> labels, annotations;
};

/// What a workload of Kubernetes says besides its Pod.
struct KubernetesParts {
  std::string kind;                                         // "Pod", "Deployment" or "StatefulSet"
  std::string name;                                         // of the workload
  std::string name_space = "default", account = "default";  // for variables with a fieldRef
  std::map<std::string, std::string> selector;              // of a Deployment or StatefulSet
  Place selector_place = nullptr;
  /// Members of the pod's spec, and of the spec of a Deployment or StatefulSet, that only a cluster
  /// honours. `pod export` copies them.
  std::vector<Place> of_pod, of_controller;
  std::set<Place> asking_nothing;  // those that ask for what a workload gets without them
  Place document = nullptr;
};

/// A part of the document that means something only on several machines. `pod run` refuses it, and
/// `pod export` writes it.
struct Elsewhere {
  std::string sentence;  // "replicas above 1 need …"
  Place place = nullptr;
  std::string name = {};  // of --ignore; "": the name of the member at `place`
  /// A part of a document of Kubernetes that nothing in the Pod says. `pod export` copies it.
  bool is_copied = false;
  bool can_be_ignored = true;
};

/// A pod. The readers of the five kinds of documents make it, and everything else sees only the
/// Pod.
struct Pod {
  Kind kind = Kind::kOam;
  std::string name;                             // "": the document has none
  Metadata metadata;                            // of the pod
  std::optional<Metadata> controller_metadata;  // of the object that keeps pods of a template
  std::optional<Replicas> replicas;
  std::optional<Scaling> scaling;
  std::vector<Container> init_containers;  // run in this order, each to its end
  std::vector<Container> containers;       // start together
  std::vector<Volume> volumes;
  std::vector<HostPort> host_ports;
  Amounts limits;  // of the whole pod
  Place limits_place = nullptr;
  std::optional<PullSecret> pull_secret;  // of containers that have none of their own
  bool shares_pids =
      false;  // all containers share one pid namespace; they always share net, ipc and uts
  Restart restart = Restart::kAlways;
  std::optional<std::chrono::seconds> grace;  // between the stop signal and SIGKILL
  bool host_network = false;                  // unless --net says otherwise
  std::optional<Gid> volume_group;            // fsGroup of Kubernetes
  std::optional<KnativeNames> knative;
  std::optional<KubernetesParts> kubernetes;
  std::string metadata_url;  // the URL of the pod's metadata service (AC-22); "": it has none
  std::vector<Connection> connections;
  std::vector<Elsewhere> elsewhere;
  std::map<std::string, KeyDocument> key_documents;  // by the ID of --secret ID=DIR
};

/// The name of the workload. The pod of a StatefulSet has another one.
inline const std::string& workload_name(const Pod& pod) {
  return pod.kubernetes ? pod.kubernetes->name : pod.name;
}

/// The labels and annotations of the pod and of its controller, merged into the annotations of a
/// bundle. If several have one name, the pod's take precedence over the controller's, and of one
/// object, annotations over labels.
std::map<std::string, std::string> bundle_annotations(const Pod& pod);

/// The secret for the image of a container; nullptr if the document names none.
inline const PullSecret* pull_secret_of(const Pod& pod, const Container& container) {
  if (container.pull_secret) return &*container.pull_secret;
  return pod.pull_secret ? &*pod.pull_secret : nullptr;
}

/// All containers of a pod in their order of start, the init containers first.
inline std::vector<const Container*> all_containers(const Pod& pod) {
  std::vector<const Container*> all;
  for (const Container& container : pod.init_containers) all.push_back(&container);
  for (const Container& container : pod.containers) all.push_back(&container);
  return all;
}

}  // namespace ocirun::pods
