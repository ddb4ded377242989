#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::pods {

/// kWaiting: the container has not been started yet, or waits for its next start.
enum class ContainerStatus : std::uint8_t { kWaiting, kRunning, kExited };
std::string_view name_of(ContainerStatus status);

struct ContainerRecord {
  std::string name;
  std::string id;  // the runtime's: POD.CONTAINER
  bool is_init = false;
  bool is_claimed = false;  // `id` is claimed: a container of it that has the pod's bundle is ours
  // Nobody had the id when it was claimed: a container that the runtime cannot describe is the
  // pod's too, such as one whose creation was cut off.
  bool was_free = false;
  ContainerStatus status = ContainerStatus::kWaiting;
  int pid = 0;  // of the program; 0 if the program does not run
  bool ready = false;
  std::uint32_t restarts = 0;
  std::optional<int> exit_code;         // of the last run; 128 + signal
  bool oom_killed = false;              // the kernel's out-of-memory killer has ended the last run
  std::uint64_t oom_kills = 0;          // how many processes of all runs it has killed
  std::string started_at, finished_at;  // RFC 3339; "": never
  std::string next_start;               // RFC 3339; "": the container does not wait for it
  std::string reason;  // why the container does not run or is not ready; "" if there is no reason
  friend bool operator==(const ContainerRecord&, const ContainerRecord&) = default;
};

/// kStarting: not all containers have been started yet. kFailed: a container or the start has
/// failed.
enum class PodStatus : std::uint8_t { kStarting, kRunning, kStopped, kFailed };
std::string_view name_of(PodStatus status);

/// The content of pod.json. The supervisor of a pod writes it, and `status`, `stop` and `delete`
/// read it, also without a supervisor.
struct PodRecord {
  int format = 1;  // of the file; a greater number is that of a newer version
  std::string name;
  std::string kind;  // "OAM ContainerizedWorkload"
  PodStatus status = PodStatus::kStarting;
  bool is_stopping = false;          // the pod starts or runs, and was asked to end
  std::string reason;                // why the pod has failed
  std::vector<std::string> runtime;  // the path of the runtime and its global options
  std::string boot_id;               // the boot of the machine that the pids below belong to
  linux::ProcessIdentity supervisor, holder, forwarder, metadata;  // pid 0: none
  std::string cgroup;         // "/ocirun/POD"; "": the pod has none of its own
  std::string slice;          // the systemd unit of the cgroup; "" if ocirun has made the cgroup
  std::string log_directory;  // absolute
  std::vector<std::string> images;  // digests of the images that the containers use
  std::chrono::seconds grace{
      0};  // between the stop signal and SIGKILL, unless `stop --grace` is given
  std::vector<ContainerRecord> containers;  // init containers first, in the order of their start
  friend bool operator==(const PodRecord&, const PodRecord&) = default;
};

/// The status of the pod for users: "stopping" if the pod was asked to end and has not.
std::string_view shown_status(const PodRecord& record);

std::string record_text(const PodRecord& record);
/// Parses the text of record_text(). Errors: another text; bundle::kNewerRecord.
Result<PodRecord> parse_record(std::string_view text);

/// Replaces pod.json in the directory of the pod atomically.
Result<void> write_record(Fd directory, const PodRecord& record);
/// Reads pod.json. Errors: ENOENT if the start of the pod was cut off early.
Result<PodRecord> read_record(Fd directory);

/// The exit status of a pod whose containers have ended: 0 if each has ended with 0, else that of
/// the first container that has not.
int exit_status_of(const PodRecord& record);

/// Whether `process`, which was recorded at the boot `boot_id`, runs. An empty id counts as that of
/// this boot.
bool runs_now(const std::string& boot_id, const linux::ProcessIdentity& process);
/// Whether the pod was run since the machine was booted. True if this cannot be known.
bool is_of_this_boot(const PodRecord& record);
/// Whether the supervisor of the pod runs.
bool is_supervised(const PodRecord& record);
/// Whether `process`, which is a process of the record, runs. It does not if the machine has been
/// booted since.
bool still_runs(const PodRecord& record, const linux::ProcessIdentity& process);

}  // namespace ocirun::pods
