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
#include "linux/network/netlink.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/rlimits.hpp"
#include "linux/process/scheduling.hpp"
#include "linux/resctrl/group.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::bundle {

struct User {
  Uid uid;
  Gid gid;
  std::optional<std::uint32_t> umask;  // absent: the caller's (P-20)
  std::vector<Gid> additional_gids;
};

/// `process`: of config.json, or of `exec --process FILE` (P-1 … P-22).
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
  std::optional<linux::CapabilitySets> capabilities;  // absent: none are kept (P-11)
  bool no_new_privileges = false;
  std::optional<int> oom_score_adj;
  std::optional<linux::Scheduler> scheduler;
  std::optional<linux::IoPriority> io_priority;
  std::optional<linux::NumberSet> initial_cpu_affinity;  // execCPUAffinity, exec only (P-18)
  std::optional<linux::NumberSet> final_cpu_affinity;
};

/// Which reading of the specification a document gets (D-10, SD-1).
enum class Edition { kLegacy05, kCurrent };

/// takes a `pids.limit` of 0 for "not given" below specification 1.3, and gives the warning
/// for one that is honoured: the container's processes cannot fork, which is hardly ever meant.
std::optional<std::string> settle_pids_limit(cgroups::Resources& resources,
                                             std::string_view oci_version);

/// A whole config.json: what exists is valid.
struct Config {
  std::string oci_version;
  Edition edition = Edition::kCurrent;
  HostPath root_path;  // absolute: a relative one is joined to the bundle (T-2)
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

/// What parsing found: the config if nothing is wrong, else every problem, each a whole sentence
/// that begins with the JSON pointer; and warnings either way.
struct Parsed {
  HostPath bundle;
  std::optional<Config> config;
  std::vector<std::string> problems;  // the first hundred
  std::size_t problem_count = 0;      // all of them
  std::vector<std::string> warnings;
  /// Why a well-formed document cannot become a container: it lists no namespaces at all and asks
  /// for what would change the host (T-4, L-12, L-29, L-33, L-35).
  std::vector<std::string> refusals;
  /// The config, or one Error: "config.json: /process/cwd: …" (the first problem, how many more
  /// there are and what lists them).
  Result<Config> take() &&;
};

/// Parses and validates a document: all of it, however much is wrong. `bundle` is absolute;
/// relative paths are joined to it.
Parsed parse_config(std::string_view text, const HostPath& bundle,
                    UnknownNames unknown_names = UnknownNames::kPassedOver);
/// `exec --process FILE`: an object as config.json's /process.
Result<Process> parse_process(std::string_view text, std::vector<std::string>& warnings);
/// `update --resources FILE`: an object as /linux/resources. Zeros of clients mean "leave alone".
/// How swap and limit, burst and quota go together depends on what is set already: not checked.
Result<cgroups::Resources> parse_resources(std::string_view text,
                                           std::vector<std::string>& warnings);
/// The document that parse_resources() reads as `resources`.
std::string resources_text(const cgroups::Resources& resources);
/// Reads BUNDLE/config.json: at most 16 MiB. Errors: "config.json not found in <bundle>" (D-1).
Result<std::string> read_config_file(const HostPath& bundle);

/// `ocirun spec --upgrade`: a 0.5/0.6 document in its 1.3 form, pretty-printed, key order kept.
Result<std::string> upgrade_document(std::string_view text);
/// What `ocirun spec` writes; with `own_map`, for a user without privileges
/// who can have that map, `spec --rootless`.
std::string default_config_text(const std::optional<linux::IdMap>& own_map, bool cgroup_v2);

}  // namespace ocirun::bundle
