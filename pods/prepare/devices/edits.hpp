#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linux/base/ids.hpp"

namespace ocirun::pods {

/// A device node of a CDI specification, as the file has it.
struct DeviceNode {
  std::string path;       // absolute, in the container
  std::string host_path;  // "": `path`
  char type = 0;          // 'b', 'c' or 'p' (a fifo); 0: that of the host's node
  // Both 0: those of the host's node.
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::optional<mode_t> mode;  // permission bits; nothing: those of the host's node
  std::string access = "rwm";  // what the cgroup allows; "": nothing
  std::optional<Uid> uid;      // nothing: the user of the container's program
  std::optional<Gid> gid;
  std::string where;  // "/etc/cdi/a.yaml:7:9: /devices/0/…", for messages
};

/// A device node with everything that config.json says of it.
struct ReadyNode {
  std::string path;
  std::string host_path;
  char type = 'c';
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::optional<mode_t> mode;
  std::string access;
  std::optional<Uid> uid;
  std::optional<Gid> gid;
  friend bool operator==(const ReadyNode&, const ReadyNode&) = default;
};

struct DeviceMount {
  std::string source;       // a path on the host, or the name of a filesystem
  std::string destination;  // absolute, in the container
  std::string type;         // "": a bind mount
  std::vector<std::string> options;
  friend bool operator==(const DeviceMount&, const DeviceMount&) = default;
};

/// A program of the host, or of the container for startContainer, that the runtime executes.
struct DeviceHook {
  std::string name;  // "createRuntime", …: a member of `hooks` in config.json
  std::string path;  // absolute
  std::vector<std::string> args;
  std::vector<std::string> env;
  std::optional<std::int32_t> timeout;  // seconds, at least 1
  friend bool operator==(const DeviceHook&, const DeviceHook&) = default;
};

/// intelRdt: shares of cache and memory bandwidth.
struct DeviceRdt {
  std::string clos_id, l3_cache_schema, mem_bw_schema;  // "": not set
  std::vector<std::string> schemata;
  bool enable_monitoring = false;
  friend bool operator==(const DeviceRdt&, const DeviceRdt&) = default;
};

/// What a container gets with a device. `Node` is DeviceNode or ReadyNode.
template <typename Node>
struct EditsWith {
  std::vector<std::string> env;  // "NAME=value"
  std::vector<Node> nodes;
  std::vector<DeviceMount> mounts;
  std::vector<DeviceHook> hooks;
  std::optional<DeviceRdt> rdt;
  std::vector<Gid> gids;
};
/// containerEdits of a specification.
using DeviceEdits = EditsWith<DeviceNode>;
/// The edits of all devices of a container together, for config.json.
using ReadyEdits = EditsWith<ReadyNode>;

}  // namespace ocirun::pods
