#pragma once

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

/// kWaiting: not started yet, or between two starts.
enum class ContainerStatus : std::uint8_t { kWaiting, kRunning, kExited };
std::string_view name_of(ContainerStatus status);

struct ContainerRecord {
  std::string name;
  std::string id;  // the runtime's: POD.CONTAINER
  bool is_init = false;
  bool is_claimed = false;  // the id was free, and the runtime may have a container of it since
  ContainerStatus status = ContainerStatus::kWaiting;
  int pid = 0;  // of the program; 0: it does not run
  bool ready = false;
  std::uint32_t restarts = 0;
  std::optional<int> exit_code;         // of the last run; 128 + signal
  bool oom_killed = false;              // the last run, by the kernel's out-of-memory killer
  std::uint64_t oom_kills = 0;          // processes of all runs that it has killed
  std::string started_at, finished_at;  // RFC 3339; "": never
  std::string reason;  // why the container does not run or is not ready; "": no reason
  friend bool operator==(const ContainerRecord&, const ContainerRecord&) = default;
};

/// kStarting: until all containers have been started. kFailed: a container or the start has failed.
enum class PodStatus : std::uint8_t { kStarting, kRunning, kStopped, kFailed };
std::string_view name_of(PodStatus status);

/// The file pod.json: what the supervisor of a pod knows, so that `status`, `stop` and `delete`
/// need no supervisor.
struct PodRecord {
  std::string name;
  std::string kind;  // "OAM ContainerizedWorkload"
  PodStatus status = PodStatus::kStarting;
  std::string reason;                // why it failed
  std::vector<std::string> runtime;  // the path of the runtime and its global options
  std::string boot_id;               // the processes below belong to this boot of the machine
  linux::ProcessIdentity supervisor, holder, forwarder, metadata;  // pid 0: none
  std::string cgroup;               // "/ocirun/POD"; "": the pod has none of its own
  std::string slice;                // systemd's unit of the cgroup; "": ocirun has made it
  std::string log_directory;        // absolute
  std::vector<std::string> images;  // digests of the images that the containers use
  std::chrono::seconds grace{0};    // between the signal to stop and SIGKILL, unless `stop` says
  std::vector<ContainerRecord> containers;  // init containers first, in the order of their start
  friend bool operator==(const PodRecord&, const PodRecord&) = default;
};

std::string record_text(const PodRecord& record);
/// Errors: a text that record_text() has not written.
Result<PodRecord> parse_record(std::string_view text);

/// Writes pod.json in the directory of the pod atomically.
Result<void> write_record(Fd directory, const PodRecord& record);
/// Errors: ENOENT: a pod whose start was cut off early has no record.
Result<PodRecord> read_record(Fd directory);

/// Whether the supervisor of the pod runs.
bool is_supervised(const PodRecord& record);
/// Whether `process`, one of the record's, runs. It does not if the machine has been booted since.
bool still_runs(const PodRecord& record, const linux::ProcessIdentity& process);

}  // namespace ocirun::pods
