#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/json/report.hpp"
#include "cgroups/plan/resources.hpp"
#include "hooks/hook.hpp"
#include "linux/base/error.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/terminal.hpp"
#include "linux/namespaces/id_map.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/namespaces/sysctl.hpp"
#include "linux/network/interfaces.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/rlimits.hpp"
#include "linux/process/scheduling.hpp"
#include "linux/resctrl/group.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::bundle {

struct User {
  Uid uid;
  Gid gid;
  std::optional<std::uint32_t> umask;  // absent: inherited from ocirun's caller (P-20)
  std::vector<Gid> additional_gids;
};

/// `process` of config.json, or the document of `exec --process FILE` (P-1 … P-22).
struct Process {
  bool terminal = false;
  std::optional<linux::ConsoleSize> console_size;
  std::string cwd;                // absolute, in the container
  std::vector<std::string> env;   // "NAME=value"
  std::vector<std::string> args;  // at least one
  User user;
  std::vector<linux::Rlimit> rlimits;
  std::string apparmor_profile;
  std::string selinux_label;
  std::optional<linux::CapabilitySets> capabilities;  // absent: no capabilities (P-11)
  bool no_new_privileges = false;
  std::optional<int> oom_score_adj;
  std::optional<linux::Scheduler> scheduler;
  std::optional<linux::IoPriority> io_priority;
  std::optional<linux::NumberSet> initial_cpu_affinity;  // execCPUAffinity, exec only (P-18)
  std::optional<linux::NumberSet> final_cpu_affinity;
};

/// The edition of the specification by which a document is read (D-10, SD-1): 0.5 and 0.6, or 1.x.
enum class Edition { kLegacy05, kCurrent };

/// Treats a `pids.limit` of 0 as the document's version means it. Below specification 1.3, 0
/// means "not given", and `pids_limit` becomes empty. Since 1.3, 0 is a limit with which no process
/// can fork; this returns a warning, because few users mean such a limit.
std::optional<std::string> settle_pids_limit(cgroups::Resources& resources,
                                             std::string_view oci_version);

/// A whole config.json, after validation.
struct Config {
  std::string oci_version;
  Edition edition = Edition::kCurrent;
  HostPath root_path;  // absolute; the document's may be relative to the bundle (T-2)
  bool root_readonly = false;
  std::vector<linux::Mount> mounts;
  std::optional<Process> process;
  std::string hostname, domainname;  // "" when absent
  hooks::Hooks hooks;
  std::map<std::string, std::string> annotations;

  linux::NamespaceSet namespaces;
  linux::IdMap id_map;  // uidMappings, gidMappings
  std::vector<linux::TimeOffset> time_offsets;
  std::vector<linux::Device> devices;
  std::vector<linux::NetDevice> net_devices;
  std::optional<std::string> cgroups_path;
  std::optional<cgroups::Resources> resources;
  std::optional<linux::IntelRdt> intel_rdt;
  std::optional<linux::SeccompProfile> seccomp;
  linux::Propagation rootfs_propagation = linux::Propagation::kUnchanged;
  bool rootfs_propagation_recursive = true;
  std::vector<RootfsPath> masked_paths, readonly_paths;
  std::vector<linux::Sysctl> sysctls;
  std::string mount_label;
  std::optional<unsigned long> personality;
  std::optional<linux::MemoryPolicy> memory_policy;
};

/// The result of parsing: the config if there is no problem, and all problems and warnings. Each is
/// a whole sentence that begins with the JSON pointer of the value.
struct Parsed {
  HostPath bundle;
  std::optional<Config> config;
  std::vector<std::string> problems;  // at most Report::kMaxListed
  std::size_t problem_count = 0;      // of all problems
  std::vector<std::string> warnings;
  /// The reasons why a valid document cannot become a container: the document has no
  /// /linux/namespaces, but has members that need a namespace (T-4, T-5, L-9, L-12, L-29, L-33,
  /// L-35, M-8).
  std::vector<std::string> refusals;
  /// The config, or one Error with the first problem or refusal: "config.json: /process/cwd: … (2
  /// more: ocirun validate BUNDLE)".
  Result<Config> take() &&;
};

/// Parses and validates a document, and does not stop at a problem. `bundle` must be absolute;
/// relative paths of the document are joined to it.
Parsed parse_config(std::string_view text, const HostPath& bundle,
                    UnknownNames unknown_names = UnknownNames::kPassedOver);
/// Parses the file of `exec --process FILE`: an object of the form of /process in config.json.
Result<Process> parse_process(std::string_view text, std::vector<std::string>& warnings);
/// Parses the file of `update --resources FILE`: an object of the form of /linux/resources. Members
/// that clients set to 0 for "leave alone" stay empty. Swap against the memory limit and burst
/// against the quota are not checked, because they depend on the limits that are already set.
Result<cgroups::Resources> parse_resources(std::string_view text,
                                           std::vector<std::string>& warnings);
/// Parses a document that is the value of linux.seccomp.
Result<linux::SeccompProfile> parse_seccomp(std::string_view text);
/// The document that parse_resources() reads as `resources`.
std::string resources_text(const cgroups::Resources& resources);
/// A mount for a running container, and its element of the document.
struct LiveMount {
  linux::Mount mount;
  std::string document;  // JSON, in one line
};
/// Parses a list of the form of /mounts in config.json, for a container of `bundle` whose root
/// filesystem is `root_path`. Relative sources are joined to `bundle`.
Result<std::vector<LiveMount>> parse_mounts(std::string_view text, const HostPath& bundle,
                                            const HostPath& root_path,
                                            std::vector<std::string>& warnings);
/// Reads BUNDLE/config.json, at most 16 MiB. Errors: "config.json not found in <bundle>" (D-1).
Result<std::string> read_config_file(const HostPath& bundle);

/// The output of `ocirun spec --upgrade`: a 0.5 or 0.6 document in its 1.3 form, a 1.x document
/// unchanged; indented, with the members in their order.
Result<std::string> upgrade_document(std::string_view text);
/// The document of `ocirun spec`. With `own_map`, the document of `spec --rootless`, which has this
/// id map and suits a user without privileges. With `cgroup_v2`, the container gets a cgroup
/// namespace.
std::string default_config_text(const std::optional<linux::IdMap>& own_map, bool cgroup_v2);

}  // namespace ocirun::bundle
