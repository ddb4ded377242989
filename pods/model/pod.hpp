#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pods/model/container.hpp"

namespace ocirun::pods {

/// A port of the host that leads to a port of the pod (AC-20).
struct HostPort {
  std::string name;  // of a port of a container, unless `pod_port` is given
  std::uint16_t number = 0;
  std::string address;  // IPv4; "": all addresses
  std::optional<Port> pod_port;
  Place place = nullptr;
};

/// A key of a secret or a config map that becomes the file `path` of a volume.
struct KeyFile {
  std::string key;
  std::string path;            // relative to the volume
  std::optional<mode_t> mode;  // else that of the volume's files
  Place place = nullptr;
};

/// A directory that containers of the pod mount.
struct Volume {
  enum class Source : std::uint8_t {
    kEmpty,     // made for the pod and removed with the pod
    kHost,      // `source` is a path of the host that the document names
    kOperator,  // --volume `source`=HOSTDIR
    kSecret,    // --secret `source`=DIR or a KeyDocument, read-only
  };
  std::string name;
  Source kind = Source::kEmpty;
  std::string source;
  bool read_only = false;
  bool recursive = true;   // kHost: with the mounts below it
  bool exclusive = false;  // one container of one pod may use the volume at a time (OAM-35)
  std::string_view exclusive_by = "sharingPolicy is Exclusive";  // for messages
  bool shares_with_all = false;  // only reads, also while another pod has the volume for itself
  std::optional<std::uint64_t> least_bytes;  // free space that must be there (OAM-36)
  std::optional<std::uint64_t> most_bytes;   // kEmpty: its size
  bool in_memory = false;                    // kEmpty: a tmpfs
  mode_t mode = 0755;                        // kEmpty, and its owner:
  Uid uid;
  Gid gid;
  Place place = nullptr;
  std::optional<std::vector<KeyFile>> items;  // kSecret: the files; nothing: a file for each key
  std::optional<mode_t> file_mode;            // kSecret: of the files
  bool is_optional = false;                   // kSecret: without the secret it has no files
};

/// A ConfigMap or a Secret that stands beside the workload.
struct KeyDocument {
  struct Key {
    std::string bytes;
    bool is_binary = false;  // of binaryData: a file, and no variable
  };
  std::map<std::string, Key> keys;
  Place place = nullptr;
};

enum class Kind : std::uint8_t { kOam, kAppc, kKnative, kRadius };
enum class Restart : std::uint8_t { kNever, kOnFailure, kAlways };

/// The environment that the Knative contract promises (KN-2).
struct KnativeNames {
  std::string service, configuration, revision;
};

/// A part of the document that means something only on several machines. `pod run` refuses it.
struct Elsewhere {
  std::string sentence;  // "replicas above 1 need …"
  Place place = nullptr;
};

/// A resource that a Radius document connects the containers to (RX-16). Its properties become
/// environment variables, which only the operator can give.
struct Connection {
  std::string name;
  std::string source;
  bool sets_variables = true;
  Place place = nullptr;
};

/// What each of the four documents is read to. Everything after the readers sees only a Pod.
struct Pod {
  Kind kind = Kind::kOam;
  std::string name;  // "": the document has none
  std::map<std::string, std::string> annotations;
  std::vector<Container> init_containers;  // run in this order, each to its end
  std::vector<Container> containers;       // start together
  std::vector<Volume> volumes;
  std::vector<HostPort> host_ports;
  Amounts limits;            // of the whole pod
  bool shares_pids = false;  // one pid namespace for all containers; net, ipc and uts always
  Restart restart = Restart::kAlways;
  std::optional<KnativeNames> knative;
  std::string metadata_url;  // AC-22: of the pod's metadata service, if who runs the pod has one
  std::vector<Connection> connections;
  std::vector<Elsewhere> elsewhere;
  std::map<std::string, KeyDocument> key_documents;  // by the name of --secret
};

/// All containers of a pod in the order in which they are started, the init containers first.
inline std::vector<const Container*> all_containers(const Pod& pod) {
  std::vector<const Container*> all;
  for (const Container& container : pod.init_containers) all.push_back(&container);
  for (const Container& container : pod.containers) all.push_back(&container);
  return all;
}

}  // namespace ocirun::pods
