#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/documents/life.hpp"
#include "cgroups/container/cgroup.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/error.hpp"
#include "linux/base/name_table.hpp"
#include "linux/process/pidfd.hpp"
#include "linux/resctrl/group.hpp"

namespace ocirun::bundle {

/// The `status` of runtime.md#state, and `paused` as an additional value. kUnknown: the state
/// directory holds no file that can be read as a record.
enum class Status : std::uint8_t { kCreating, kCreated, kRunning, kPaused, kStopped, kUnknown };

inline constexpr linux::Named<Status> kStatusNames[] = {
    {"creating", Status::kCreating}, {"created", Status::kCreated}, {"running", Status::kRunning},
    {"paused", Status::kPaused},     {"stopped", Status::kStopped}, {"unknown", Status::kUnknown},
};
constexpr std::string_view status_name(Status status) { return name_of(kStatusNames, status); }

/// The state document (runtime.md#state), with the additional properties that clients of runc read.
struct StateDocument {
  std::string oci_version;
  std::string id;
  Status status = Status::kUnknown;
  int pid = 0;  // 0: no process; `state` and `list` print the 0, hooks get no pid
  std::string bundle;
  std::string rootfs;
  std::string created;  // RFC 3339 with nanoseconds, UTC
  std::string owner;    // `list` only
  std::map<std::string, std::string> annotations;
  std::optional<LifeRecord> life = {};  // of a container that records its end
};

/// The state for a hook's stdin: only the specification's properties, in one line.
std::string hook_state(const StateDocument& state);
/// `ocirun state`: two-space indent, keys in runc's order, and behind them those of the life, if
/// there is one: started, finished, exitStatus, exitSignal, oomKilled.
std::string state_text(const StateDocument& state);
/// `ocirun list --format json`: one line, keys ociVersion, id, pid, status, bundle, rootfs,
/// created, annotations, owner, and those of the life.
std::string list_text(const std::vector<StateDocument>& states);
/// `ocirun ps --format json`: "[1,2]".
std::string pids_text(const std::vector<int>& pids);
/// S-7: the ContainerProcessState message for a seccomp agent. `pid` is the process whose filter
/// notifies; `state` is written as by hook_state().
std::string seccomp_state(const StateDocument& state, int pid, std::string_view metadata);
/// A line of the log as a JSON object, without the newline: {"level":…,"msg":…,"time":…}. Replaces
/// invalid UTF-8.
std::string log_line(std::string_view level, std::string_view message, std::string_view time);

/// The namespaces that --pin-namespaces keeps.
struct NamespacePinRecord {
  std::string directory;
  std::uint64_t mount = 0;  // sys::mount_id() of the tmpfs on it
  bool is_new_directory = false;
};

/// The content of state.json: all facts about a container that later commands need. The format has
/// a version, and is private to ocirun.
struct ContainerRecord {
  int format = 1;
  std::string id;
  std::string oci_version;  // of the document
  std::string bundle, rootfs;
  std::string created;
  std::uint32_t owner_uid = 0;
  int init_pid = 0;  // pid, start time and boot id identify init
  unsigned long long init_start_time = 0;
  // linux::own_image() of init before init executes the program. Only written, for version 0.1.0,
  // which requires and compares it; this version asks linux::ProcessStat::has_executed.
  std::string init_image;
  std::string boot_id;
  cgroups::Record cgroup;
  cgroups::Manager cgroup_manager = cgroups::Manager::kCgroupfs;
  std::string cgroup_mark;  // the mark's beginning (cgroups/container/record.hpp), "" for none
  bool has_poststart = false, has_poststop = false;
  bool own_pid_namespace = false;
  bool new_keyring = true;      // false: --no-new-keyring, also for `exec`
  bool mounts_on_host = false;  // no mount namespace of its own: mounts in the caller's (L-4)
  // With mounts_on_host, the sys::mount_id() of ocirun's mount on the rootfs; 0 if the kernel does
  // not report ids. Absent: nothing is mounted yet.
  std::optional<std::uint64_t> rootfs_mount;
  std::optional<NamespacePinRecord> namespace_pins;
  bool learns_calls = false;  // `run --seccomp-learn` listens to its filter
  bool has_process = false;   // P-1: without one, `start` fails
  std::string stop_signal;    // T-7, "" for SIGTERM
  // The foreground `run` that removes the container when init ends; 0: no command does.
  int attendant_pid = 0;
  unsigned long long attendant_start_time = 0;
  std::optional<linux::ResctrlGroups> resctrl;
  std::map<std::string, std::string> annotations;

  linux::ProcessIdentity init() const { return {init_pid, init_start_time}; }
  linux::ProcessIdentity attendant() const { return {attendant_pid, attendant_start_time}; }
};
/// The part of a mark (cgroups/container/record.hpp) that describes the cgroup. A container may
/// forge marks: callers of parse_cgroup() must check the result with cgroups::open_cgroup().
std::string cgroup_text(const cgroups::Record& cgroup);
Result<cgroups::Record> parse_cgroup(std::string_view text);
std::string record_text(const ContainerRecord& record);
Result<ContainerRecord> parse_record(std::string_view text);

/// The content of intent.json: the container that `create` is about to make. `create` writes it
/// before the first side effect, so that `delete --force` can remove everything after a crash.
struct IntentRecord {
  ContainerRecord record;  // as far as known; init is recorded before the first hook runs
  int runtime_pid = 0;
  unsigned long long runtime_start_time = 0;

  linux::ProcessIdentity runtime() const { return {runtime_pid, runtime_start_time}; }
};
std::string intent_text(const IntentRecord& intent);
Result<IntentRecord> parse_intent(std::string_view text);

/// The stdin, stdout and stderr of a container's init at its checkpoint: the texts of the links in
/// /proc/PID/fd, such as "pipe:[123]", or the name that CRIU gives to a file outside of the
/// container. They are kept in the file descriptors.json beside the images, where tools of engines
/// expect them.
using StandardStreams = std::array<std::string, 3>;

std::string descriptors_text(const StandardStreams& streams);
/// Errors: `text` is no list of three strings.
Result<StandardStreams> parse_descriptors(std::string_view text);

}  // namespace ocirun::bundle
