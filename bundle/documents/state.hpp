#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/documents/status.hpp"
#include "cgroups/container/cgroup.hpp"
#include "cgroups/hierarchies/manager.hpp"
#include "linux/base/error.hpp"
#include "linux/process/pidfd.hpp"
#include "linux/resctrl/group.hpp"

namespace ocirun::bundle {

/// runtime.md#state, with the extra properties that clients of runc read.
struct StateDocument {
  std::string oci_version;
  std::string id;
  Status status = Status::kUnknown;
  int pid = 0;  // 0 without a process: `state` and `list` print it, hooks get no pid
  std::string bundle;
  std::string rootfs;
  std::string created;  // RFC 3339 with nanoseconds, UTC
  std::string owner;    // `list` only
  std::map<std::string, std::string> annotations;
};

/// The state on a hook's stdin and in the seccomp agent's message: spec properties only, one line.
std::string hook_state(const StateDocument& state);
/// `ocirun state`: two-space indent, keys in runc's order.
std::string state_text(const StateDocument& state);
/// `ocirun list --format json`: one line, keys ociVersion, id, pid, status, bundle, rootfs,
/// created, annotations, owner.
std::string list_text(const std::vector<StateDocument>& states);
/// `ocirun ps --format json`: "[1,2]".
std::string pids_text(const std::vector<int>& pids);
/// S-7: the ContainerProcessState message for a seccomp agent.
std::string seccomp_state(const StateDocument& state, int pid, std::string_view metadata);
/// One log object, without the newline: {"level":…,"msg":…,"time":…}. Invalid UTF-8 is replaced.
std::string log_line(std::string_view level, std::string_view message, std::string_view time);

/// state.json: what later commands have to know of a container. Private to ocirun, versioned.
struct ContainerRecord {
  int format = 1;
  std::string id;
  std::string oci_version;  // of the document
  std::string bundle, rootfs;
  std::string created;
  std::uint32_t owner_uid = 0;
  int init_pid = 0;  // identity: pid, start time, boot id
  unsigned long long init_start_time = 0;
  std::string init_image;  // linux::image_of(init) before its program
  std::string boot_id;
  cgroups::Record cgroup;
  cgroups::Manager cgroup_manager = cgroups::Manager::kCgroupfs;
  std::string cgroup_mark;  // how its mark begins (cgroups/container/mark.hpp), "" for none
  bool has_poststart = false, has_poststop = false;
  bool own_pid_namespace = false;
  bool new_keyring = true;      // false: --no-new-keyring, which `exec` follows
  bool mounts_on_host = false;  // no mount namespace: the rootfs is mounted in the caller's (L-4)
  // Our mount on that rootfs: sys::mount_id(), 0 where the kernel does not tell. Absent: none yet.
  std::optional<std::uint64_t> rootfs_mount;
  bool has_process = false;  // P-1: start refuses without
  std::string stop_signal;   // T-7, "" for SIGTERM
  // The foreground `run` that removes the container at its end; 0: none was to.
  int attendant_pid = 0;
  unsigned long long attendant_start_time = 0;
  std::optional<linux::ResctrlGroups> resctrl;
  std::map<std::string, std::string> annotations;

  linux::ProcessIdentity init() const { return {init_pid, init_start_time}; }
  linux::ProcessIdentity attendant() const { return {attendant_pid, attendant_start_time}; }
};
/// The cgroup alone, for its mark. What parse_cgroup yields is to be checked by open_cgroup().
std::string cgroup_text(const cgroups::Record& cgroup);
Result<cgroups::Record> parse_cgroup(std::string_view text);
std::string record_text(const ContainerRecord& record);
Result<ContainerRecord> parse_record(std::string_view text);

/// intent.json: written before the first side effect, so that `delete --force` finds everything
/// after a crash.
struct IntentRecord {
  ContainerRecord record;  // as far as it is known: init from the moment that hooks may ask for it
  int runtime_pid = 0;
  unsigned long long runtime_start_time = 0;

  linux::ProcessIdentity runtime() const { return {runtime_pid, runtime_start_time}; }
};
std::string intent_text(const IntentRecord& intent);
Result<IntentRecord> parse_intent(std::string_view text);

}  // namespace ocirun::bundle
