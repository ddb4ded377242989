#include "bundle/documents/state.hpp"

#include "bundle/json/document.hpp"
#include "bundle/json/writer.hpp"

namespace ocirun::bundle {
namespace {

using Layout = JsonWriter::Layout;

/// Writes only the properties of runtime.md#state. A container without a process gets no `pid`.
void write_spec_state(JsonWriter& out, const StateDocument& state) {
  out.begin_object();
  out.member("ociVersion", state.oci_version);
  out.member("id", state.id);
  out.member("status", status_name(state.status));
  if (state.pid != 0) out.member("pid", state.pid);
  out.member("bundle", state.bundle);
  if (!state.annotations.empty()) out.member("annotations", state.annotations);
  out.end_object();
}

void write_life_members(JsonWriter& out, const LifeRecord& life) {
  if (!life.started.empty()) out.member("started", life.started);
  if (life.finished.empty()) return;
  out.member("finished", life.finished);
  if (life.exit_status) out.member("exitStatus", *life.exit_status);
  if (life.exit_signal) out.member("exitSignal", *life.exit_signal);
  if (life.oom_killed) out.member("oomKilled", *life.oom_killed);
}

/// Writes all properties that clients of runc read, in the order of runc.
void write_full_state(JsonWriter& out, const StateDocument& state) {
  out.begin_object();
  out.member("ociVersion", state.oci_version);
  out.member("id", state.id);
  out.member("pid", state.pid);
  out.member("status", status_name(state.status));
  out.member("bundle", state.bundle);
  out.member("rootfs", state.rootfs);
  out.member("created", state.created);
  if (!state.annotations.empty()) out.member("annotations", state.annotations);
  out.member("owner", state.owner);
  if (state.life) write_life_members(out, *state.life);
  out.end_object();
}

}  // namespace

std::string hook_state(const StateDocument& state) {
  JsonWriter out(Layout::kOneLine);
  write_spec_state(out, state);
  return std::move(out).take();
}

std::string state_text(const StateDocument& state) {
  JsonWriter out(Layout::kIndented);
  write_full_state(out, state);
  return std::move(out).take() + "\n";
}

std::string list_text(const std::vector<StateDocument>& states) {
  JsonWriter out(Layout::kOneLine);
  out.begin_array();
  for (const StateDocument& state : states) write_full_state(out, state);
  out.end_array();
  return std::move(out).take() + "\n";
}

std::string pids_text(const std::vector<int>& pids) {
  JsonWriter out(Layout::kOneLine);
  out.value(pids);
  return std::move(out).take() + "\n";
}

std::string seccomp_state(const StateDocument& state, int pid, std::string_view metadata) {
  JsonWriter out(Layout::kOneLine);
  out.begin_object();
  out.member("ociVersion", state.oci_version);
  out.key("fds").begin_array().value("seccompFd").end_array();
  out.member("pid", pid);
  if (!metadata.empty()) out.member("metadata", metadata);
  out.key("state");
  write_spec_state(out, state);
  out.end_object();
  return std::move(out).take();
}

std::string log_line(std::string_view level, std::string_view message, std::string_view time) {
  JsonWriter out(Layout::kOneLine);
  out.begin_object();
  out.member("level", level).member("msg", message).member("time", time);
  out.end_object();
  return std::move(out).take();
}

std::string descriptors_text(const StandardStreams& streams) {
  JsonWriter out(JsonWriter::Layout::kOneLine);
  out.begin_array();
  for (const std::string& stream : streams) out.value(std::string_view(stream));
  out.end_array();
  return std::move(out).take();
}

Result<StandardStreams> parse_descriptors(std::string_view text) {
  constexpr const char* kWanted = "descriptors.json: must be a list of three strings";
  Report report;
  Document document;
  if (!document.parse(text, report) || !report.ok() || !document.root()->is_array())
    return refuse("{}", kWanted);
  StandardStreams streams;
  std::size_t count = 0;
  for (const Node* item = document.root()->first; item != nullptr; item = item->next) {
    if (!item->is_string() || count == streams.size()) return refuse("{}", kWanted);
    streams[count++] = item->text;
  }
  if (count != streams.size()) return refuse("{}", kWanted);
  return streams;
}

}  // namespace ocirun::bundle
