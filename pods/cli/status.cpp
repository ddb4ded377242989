#include <fmt/ranges.h>

#include <array>

#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/options.hpp"
#include "pods/cli/views.hpp"
#include "pods/run/logs/line.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kStatusOptions{
    kFormatOption,
    kDataOption,
};

void write_container(bundle::JsonWriter& out, const ContainerRecord& container) {
  const auto text_or_null = [&](std::string_view key, const std::string& text) {
    out.key(key);
    if (text.empty())
      out.null();
    else
      out.value(text);
  };
  out.begin_object().member("name", container.name).member("id", container.id);
  out.member("status", name_of(container.status)).key("pid");
  container.pid == 0 ? out.null() : out.value(container.pid);
  out.member("init", container.is_init).member("ready", container.ready);
  out.member("restarts", container.restarts).key("exitCode");
  container.exit_code ? out.value(*container.exit_code) : out.null();
  out.member("oomKilled", container.oom_killed).member("oomKills", container.oom_kills);
  text_or_null("startedAt", container.started_at);
  text_or_null("finishedAt", container.finished_at);
  text_or_null("nextStart", container.next_start);
  text_or_null("reason", container.reason);
  out.end_object();
}

void write_pod(bundle::JsonWriter& out, const PodView& view) {
  const PodRecord& record = view.record;
  out.begin_object().member("name", record.name).member("kind", record.kind);
  out.member("status", shown_status(record)).key("supervisor");
  view.is_supervised ? out.value(record.supervisor.pid) : out.null();
  out.key("reason");
  record.reason.empty() ? out.null() : out.value(record.reason);
  out.key("network");
  if (view.network.name.empty())
    out.null();
  else
    out.begin_object()
        .member("name", view.network.name)
        .member("addresses", view.network.addresses)
        .end_object();
  out.member("logDirectory", record.log_directory).key("containers").begin_array();
  for (const ContainerRecord& container : record.containers) write_container(out, container);
  out.end_array().end_object();
}

std::string json_of(const std::vector<PodView>& views, bool is_list) {
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kIndented);
  if (is_list) out.begin_array();
  for (const PodView& view : views) write_pod(out, view);
  if (is_list) out.end_array();
  return std::move(out).take() + "\n";
}

/// Why a container does not run or is not ready, when it starts again, and how many of its
/// processes had too little memory.
std::string reason_of(const ContainerRecord& container) {
  std::string reason = container.reason;
  const auto add = [&](const std::string& fact) {
    reason += fmt::format("{}{}", reason.empty() ? "" : "; ", fact);
  };
  if (const auto next = parse_time(container.next_start)) {
    const std::int64_t seconds = seconds_until(*next);
    add(seconds == 0 ? "starts again now" : fmt::format("starts again in {} s", seconds));
  }
  if (container.oom_kills != 0)
    add(fmt::format("{} out-of-memory kill{}", container.oom_kills,
                    container.oom_kills == 1 ? "" : "s"));
  return reason;
}

/// Why a pod is not well: "CONTAINER: REASON" if a container is the cause, without its place in the
/// document.
std::string reason_of(const PodRecord& pod) {
  for (const ContainerRecord& container : pod.containers) {
    const bool is_cause =
        pod.reason.empty()
            ? !container.is_init && !container.ready
            : pod.reason.ends_with(container.reason) &&
                  pod.reason.contains(fmt::format("container \"{}\"", container.name));
    if (is_cause && !container.reason.empty())
      return fmt::format("{}: {}", container.name, reason_of(container));
  }
  return pod.reason;
}

/// The text in one line of at most 80 bytes; "..." stands for its rest.
std::string shortened(std::string_view reason) {
  constexpr std::size_t kMost = 80;
  constexpr std::string_view kRest = "...";
  std::string text = linux::in_one_line(reason);
  if (text.size() <= kMost) return text;
  std::size_t size = kMost - kRest.size();
  const auto continues = [&](std::size_t at) { return (text[at] & 0xC0) == 0x80; };  // in UTF-8
  while (size > 0 && continues(size)) --size;
  return text.substr(0, size) + std::string(kRest);
}

std::string list_of_pods(const std::vector<PodView>& views) {
  std::vector<Row> rows{{"POD", "STATUS", "READY", "RESTARTS", "KIND", "REASON"}};
  for (const PodView& view : views) {
    std::size_t ready = 0, count = 0, restarts = 0;
    for (const ContainerRecord& container : view.record.containers) {
      if (container.is_init) continue;
      ++count;
      ready += container.ready ? 1 : 0;
      restarts += container.restarts;
    }
    rows.push_back({view.record.name, std::string(shown_status(view.record)),
                    fmt::format("{}/{}", ready, count), fmt::format("{}", restarts),
                    view.record.kind, shortened(reason_of(view.record))});
  }
  return text_table(rows);
}

std::string details_of(const PodView& view) {
  const PodRecord& record = view.record;
  std::string text = fmt::format("{}: {}, {}", record.name, record.kind, shown_status(record));
  if (view.is_supervised) text += fmt::format(", supervised by process {}", record.supervisor.pid);
  if (!view.network.name.empty())
    text += fmt::format(", in the network {} as {}", view.network.name,
                        fmt::join(view.network.addresses, ", "));
  if (!record.reason.empty()) text += fmt::format(": {}", linux::in_one_line(record.reason));
  std::vector<Row> rows{{"CONTAINER", "STATUS", "READY", "RESTARTS", "PID", "EXIT", "REASON"}};
  for (const ContainerRecord& container : record.containers)
    rows.push_back({container.name + (container.is_init ? " (init)" : ""),
                    std::string(name_of(container.status)),
                    container.is_init ? "-"
                    : container.ready ? "yes"
                                      : "no",
                    fmt::format("{}", container.restarts),
                    container.pid == 0 ? "-" : fmt::format("{}", container.pid),
                    container.exit_code ? fmt::format("{}", *container.exit_code) : "-",
                    shortened(reason_of(container))});
  return text + "\n" + text_table(rows);
}

Result<int> status(const Arguments& arguments, const Caller&) {
  OCIRUN_TRY_ASSIGN(const bool json, wants_json(arguments));
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  OCIRUN_TRY_ASSIGN(const ChosenPods chosen, view_pods(pods, arguments.operands()));
  if (json) {
    OCIRUN_TRY(print(json_of(chosen.views, chosen.is_list)));
  } else if (arguments.operands().empty()) {
    OCIRUN_TRY(print(list_of_pods(chosen.views)));
  } else {
    for (const PodView& view : chosen.views) OCIRUN_TRY(print(details_of(view)));
  }
  return 0;
}

}  // namespace

const Command kStatus{{"status",
                       "[POD...]",
                       "tell what the containers of pods do; all pods without POD",
                       kStatusOptions,
                       {0, kAnyNumber},
                       {kPods}},
                      status};

}  // namespace ocirun::pods::cli
