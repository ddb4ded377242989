#include "pods/state/record.hpp"

#include "bundle/json/record.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "pods/state/process_json.hpp"

namespace ocirun::pods {
namespace {

using bundle::field;
using bundle::required;
using bundle::Value;
using bundle::written;

constexpr const char* kFile = "pod.json";
constexpr int kFormat = 1;
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

constexpr linux::Named<ContainerStatus> kContainerStatuses[] = {
    {"waiting", ContainerStatus::kWaiting},
    {"running", ContainerStatus::kRunning},
    {"exited", ContainerStatus::kExited},
};
constexpr linux::Named<PodStatus> kPodStatuses[] = {
    {"starting", PodStatus::kStarting},
    {"running", PodStatus::kRunning},
    {"stopped", PodStatus::kStopped},
    {"failed", PodStatus::kFailed},
};

constexpr bundle::RecordWord<kContainerStatuses> kContainerStatus{"status"};
constexpr bundle::RecordWord<kPodStatuses> kPodStatus{"status"};

struct Seconds {
  bool operator()(Value at, std::chrono::seconds& out) const {
    std::uint32_t count = 0;
    if (!bundle::whole_number(at, count)) return false;
    out = std::chrono::seconds(count);
    return true;
  }
  static void write(bundle::JsonWriter& out, std::chrono::seconds value) {
    out.value(value.count());
  }
};

/// A text of a program, which may have any bytes and any length. It is written cleaned and cut.
struct ShownText {
  static constexpr std::size_t kMostShown = 500;
  bool operator()(Value at, std::string& out) const { return bundle::text(at, out); }
  static void write(bundle::JsonWriter& out, const std::string& value) {
    out.value(linux::in_one_line(value.substr(0, kMostShown)));
  }
};

constexpr auto kContainer = bundle::exact_fields<ContainerRecord>(
    required("name", &ContainerRecord::name, bundle::nonempty_text),
    required("id", &ContainerRecord::id, bundle::nonempty_text),
    required("init", &ContainerRecord::is_init, bundle::flag),
    required("claimed", &ContainerRecord::is_claimed, bundle::flag),
    field("wasFree", &ContainerRecord::was_free, bundle::flag),
    required("status", &ContainerRecord::status, kContainerStatus),
    required("pid", &ContainerRecord::pid, kPid),
    required("ready", &ContainerRecord::ready, bundle::flag),
    required("restarts", &ContainerRecord::restarts, bundle::whole_number),
    field("exitCode", &ContainerRecord::exit_code, bundle::range(0, 255)),
    required("oomKilled", &ContainerRecord::oom_killed, bundle::flag),
    required("oomKills", &ContainerRecord::oom_kills, bundle::whole_number),
    required("startedAt", &ContainerRecord::started_at, bundle::text),
    required("finishedAt", &ContainerRecord::finished_at, bundle::text),
    field("nextStart", &ContainerRecord::next_start, bundle::text),
    required("reason", &ContainerRecord::reason, ShownText()));

constexpr auto kPod = bundle::exact_fields<PodRecord>(
    written("format", &PodRecord::format, bundle::RecordFormat{kFormat}),
    required("name", &PodRecord::name, bundle::nonempty_text),
    required("kind", &PodRecord::kind, bundle::text),
    required("status", &PodRecord::status, kPodStatus),
    field("stopping", &PodRecord::is_stopping, bundle::flag),
    required("reason", &PodRecord::reason, ShownText()),
    required("runtime", &PodRecord::runtime, bundle::texts),
    required("bootId", &PodRecord::boot_id, bundle::text),
    required("supervisor", &PodRecord::supervisor, kProcess),
    required("holder", &PodRecord::holder, kProcess),
    required("forwarder", &PodRecord::forwarder, kProcess),
    required("metadata", &PodRecord::metadata, kProcess),
    required("cgroup", &PodRecord::cgroup, bundle::text),
    required("slice", &PodRecord::slice, bundle::text),
    required("logDirectory", &PodRecord::log_directory, bundle::text),
    required("images", &PodRecord::images, bundle::texts),
    required("grace", &PodRecord::grace, Seconds()),
    required("containers", &PodRecord::containers, bundle::list_of(kContainer)));

}  // namespace

std::string_view name_of(ContainerStatus status) {
  return linux::name_of(kContainerStatuses, status);
}
std::string_view name_of(PodStatus status) { return linux::name_of(kPodStatuses, status); }

std::string_view shown_status(const PodRecord& record) {
  return record.is_stopping ? "stopping" : name_of(record.status);
}

std::string record_text(const PodRecord& record) {
  return bundle::text_of(kPod, record, bundle::JsonWriter::Layout::kIndented);
}

Result<PodRecord> parse_record(std::string_view text) {
  return bundle::parse_record(kFile, text, kPod, bundle::kNewerRecord);
}

Result<void> write_record(Fd directory, const PodRecord& record) {
  return bundle::replace_record(directory, kFile, kPod, record);
}

Result<PodRecord> read_record(Fd directory) {
  return bundle::read_record(directory, kFile, kMostBytes, kPod);
}

int exit_status_of(const PodRecord& record) {
  for (const ContainerRecord& container : record.containers)
    if (const int code = container.exit_code.value_or(0); code != 0) return code;
  return 0;
}

namespace {

bool is_this_boot(const std::string& boot_id) {
  const auto boot = linux::read_boot_id();
  return !boot || boot_id.empty() || *boot == boot_id;
}

}  // namespace

bool runs_now(const std::string& boot_id, const linux::ProcessIdentity& process) {
  return process.pid != 0 && is_this_boot(boot_id) && linux::is_alive(process);
}

bool is_of_this_boot(const PodRecord& record) { return is_this_boot(record.boot_id); }

bool still_runs(const PodRecord& record, const linux::ProcessIdentity& process) {
  return runs_now(record.boot_id, process);
}

bool is_supervised(const PodRecord& record) { return still_runs(record, record.supervisor); }

}  // namespace ocirun::pods
