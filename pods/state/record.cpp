#include "pods/state/record.hpp"

#include <fcntl.h>

#include "bundle/json/fields.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "pods/state/process_json.hpp"

namespace ocirun::pods {
namespace {

using bundle::field;
using bundle::required;
using bundle::Value;

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

template <typename T, std::size_t N>
constexpr auto word_of(const linux::Named<T> (&table)[N]) {
  return [&table](Value at, T& out) {
    std::string name;
    if (!bundle::text(at, name)) return false;
    const auto value = linux::value_of(table, name);
    if (value) out = *value;
    if (!value) at.problem("is no status");
    return value.has_value();
  };
}

bool seconds(Value at, std::chrono::seconds& out) {
  std::uint32_t count = 0;
  if (!bundle::whole_number(at, count)) return false;
  out = std::chrono::seconds(count);
  return true;
}

constexpr auto kContainer = bundle::exact_fields<ContainerRecord>(
    required("name", &ContainerRecord::name, bundle::nonempty_text),
    required("id", &ContainerRecord::id, bundle::nonempty_text),
    required("init", &ContainerRecord::is_init, bundle::flag),
    required("claimed", &ContainerRecord::is_claimed, bundle::flag),
    required("status", &ContainerRecord::status, word_of(kContainerStatuses)),
    required("pid", &ContainerRecord::pid, kPid),
    required("ready", &ContainerRecord::ready, bundle::flag),
    required("restarts", &ContainerRecord::restarts, bundle::whole_number),
    field("exitCode", &ContainerRecord::exit_code, bundle::range(0, 255)),
    required("oomKilled", &ContainerRecord::oom_killed, bundle::flag),
    required("oomKills", &ContainerRecord::oom_kills, bundle::whole_number),
    required("startedAt", &ContainerRecord::started_at, bundle::text),
    required("finishedAt", &ContainerRecord::finished_at, bundle::text),
    required("reason", &ContainerRecord::reason, bundle::text));

constexpr auto kPod = bundle::exact_fields<PodRecord>(
    field("format", &PodRecord::format, bundle::RecordFormat{kFormat}),
    required("name", &PodRecord::name, bundle::nonempty_text),
    required("kind", &PodRecord::kind, bundle::text),
    required("status", &PodRecord::status, word_of(kPodStatuses)),
    required("reason", &PodRecord::reason, bundle::text),
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
    required("grace", &PodRecord::grace, seconds),
    required("containers", &PodRecord::containers, bundle::list_of(kContainer)));

/// Cleans and cuts a text of a program, which may have any bytes and any length.
std::string plain(const std::string& text) {
  constexpr std::size_t kMostShown = 500;
  return linux::in_one_line(text.substr(0, kMostShown));
}

void write_container(bundle::JsonWriter& out, const ContainerRecord& container) {
  out.begin_object().member("name", container.name).member("id", container.id);
  out.member("init", container.is_init).member("claimed", container.is_claimed);
  out.member("status", name_of(container.status));
  out.member("pid", container.pid).member("ready", container.ready);
  out.member("restarts", container.restarts);
  if (container.exit_code) out.member("exitCode", *container.exit_code);
  out.member("oomKilled", container.oom_killed).member("oomKills", container.oom_kills);
  out.member("startedAt", container.started_at);
  out.member("finishedAt", container.finished_at)
      .member("reason", plain(container.reason))
      .end_object();
}

}  // namespace

std::string_view name_of(ContainerStatus status) {
  return linux::name_of(kContainerStatuses, status);
}
std::string_view name_of(PodStatus status) { return linux::name_of(kPodStatuses, status); }

std::string record_text(const PodRecord& record) {
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kIndented);
  out.begin_object().member("format", kFormat);
  out.member("name", record.name).member("kind", record.kind);
  out.member("status", name_of(record.status)).member("reason", plain(record.reason));
  out.member("runtime", record.runtime).member("bootId", record.boot_id);
  write_process(out, "supervisor", record.supervisor);
  write_process(out, "holder", record.holder);
  write_process(out, "forwarder", record.forwarder);
  write_process(out, "metadata", record.metadata);
  out.member("cgroup", record.cgroup).member("slice", record.slice);
  out.member("logDirectory", record.log_directory).member("images", record.images);
  out.member("grace", record.grace.count()).key("containers").begin_array();
  for (const ContainerRecord& container : record.containers) write_container(out, container);
  out.end_array().end_object();
  return std::move(out).take();
}

Result<PodRecord> parse_record(std::string_view text) {
  bundle::Document document;
  bundle::Report report;
  PodRecord record;
  if (document.parse(text, report)) kPod(Value(*document.root(), report), record);
  if (report.ok()) return record;
  const bundle::Node* const root = document.root();
  const bundle::Node* const format =
      root != nullptr && root->is_object() ? root->find("format") : nullptr;
  const bool is_newer =
      format != nullptr && format->kind == bundle::Node::Kind::kNatural && format->number > kFormat;
  return fail(is_newer ? kNewerRecord : 0, "{}: {}", kFile,
              bundle::first_of(report.problems(), report.problem_count()));
}

Result<void> write_record(Fd directory, const PodRecord& record) {
  return linux::replace_file(directory, kFile, record_text(record), 0600);
}

Result<PodRecord> read_record(Fd directory) {
  OCIRUN_TRY_ASSIGN(const std::string text,
                    linux::read_file(directory, kFile, kMostBytes, O_NOFOLLOW));
  return parse_record(text);
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
