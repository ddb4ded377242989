#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "linux/base/file_io.hpp"
#include "linux/base/text.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/process/share_out.hpp"
#include "runtime/base/log.hpp"
#include "runtime/cli/command.hpp"
#include "runtime/cli/values.hpp"
#include "runtime/commands/events.hpp"
#include "runtime/commands/processes.hpp"
#include "runtime/init/executable.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime::cli {
namespace {

/// The names of users. Looks up each name once. For one thread.
class UserNames {
 public:
  const std::string& of(std::uint32_t uid) {
    const auto [entry, is_new] = names_.try_emplace(uid);
    if (is_new) {
      const auto lines = find_in_passwd(uid);
      entry->second = lines.empty() ? fmt::format("#{}", uid) : lines.front().name;
    }
    return entry->second;
  }

 private:
  std::map<std::uint32_t, std::string> names_;
};

// A column is three characters wider than the longest cell, and at least 12 characters wide. runc
// prints such columns, and scripts cut the lines at these places.
std::string table_text(const std::vector<bundle::StateDocument>& states) {
  using Row = std::array<std::string, 6>;
  std::vector<Row> rows{{"ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER"}};
  for (const bundle::StateDocument& state : states)
    rows.push_back({state.id, fmt::format("{}", state.pid), std::string(status_name(state.status)),
                    linux::in_one_line(state.bundle), linux::in_one_line(state.created),
                    state.owner});
  Row::size_type column = 0;
  std::array<std::size_t, 6> widths{};
  for (std::size_t& width : widths) {
    for (const Row& row : rows) width = std::max(width, row[column].size() + 3);
    width = std::max<std::size_t>(width, 12);
    ++column;
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      text += fmt::format("{:{}}", row[i], widths[i]);
    text += row.back() + "\n";
  }
  return text;
}

// Returns nothing if the entry of the state root is no directory or was deleted meanwhile.
Result<std::optional<StateDirectory>> find_listed(const Store& store, const ContainerId& id) {
  auto directory = store.find(id);
  if (directory) return *std::move(directory);
  if (is_transient(directory.error().number()))  // a shortage, such as EMFILE
    return fail(directory.error().number(), "read the state of {}", id.string());
  return std::nullopt;
}

// The ids of the entries of which `list` has rows, one a line.
Result<std::string> ids_text(const Store& store, const std::vector<std::string>& names) {
  std::string lines;
  for (const std::string& name : names) {
    OCIRUN_TRY_ASSIGN(const ContainerId id, ContainerId::parse(name));
    OCIRUN_TRY_ASSIGN(const auto directory, find_listed(store, id));
    if (directory && directory->is_state()) lines += name + "\n";
  }
  return lines;
}

// Returns nothing if the entry of the state root is no container or was deleted meanwhile.
Result<std::optional<bundle::StateDocument>> listed_state(const Store& store,
                                                          const std::string& name,
                                                          UserNames& names) {
  OCIRUN_TRY_ASSIGN(const ContainerId id, ContainerId::parse(name));
  OCIRUN_TRY_ASSIGN(auto directory, find_listed(store, id));
  if (!directory) return std::nullopt;
  const auto container = Container::load(*directory, id);
  if (container) {
    // In another user's state root, that user may have written any owner_uid into the record.
    const bool is_believed = belongs_to_caller(container->directory());
    bundle::StateDocument state = container->state();
    state.owner = names.of(is_believed ? container->record().owner_uid
                                       : container->directory().owner().value_or(::geteuid()));
    return state;
  }
  if (!directory->is_state()) return std::nullopt;
  // A shortage, such as EMFILE, ends the command. But files of another user may cause any error,
  // and must not end the command.
  if (is_transient(container.error().number()) && belongs_to_caller(*directory))
    return fail(container.error().number(), "read the state of {}", id.string());
  bundle::StateDocument state = state_of_unfinished(*directory, id);
  state.owner = names.of(directory->owner().value_or(::geteuid()));
  return state;
}

Result<bool> wants_json(const Arguments& arguments) {
  const std::string format = arguments.value("format").value_or("table");
  if (format == "table" || format == "json") return format == "json";
  return refuse("--format {}: must be table or json", format);
}

}  // namespace

// share_out() may call the function twice for one share, so a call writes only to the items of its
// share.
Result<std::vector<bundle::StateDocument>> listed_states(const Store& store,
                                                         const std::vector<std::string>& ids) {
  std::vector<Result<std::optional<bundle::StateDocument>>> found(ids.size());
  linux::share_out(ids.size(), [&](std::size_t begin, std::size_t end) {
    UserNames names;
    for (std::size_t i = begin; i < end; ++i) found[i] = listed_state(store, ids[i], names);
  });
  std::vector<bundle::StateDocument> states;
  states.reserve(ids.size());
  for (auto& one : found) {
    OCIRUN_TRY_ASSIGN(auto state, std::move(one));
    if (state) states.push_back(*std::move(state));
  }
  return states;
}

Result<int> run_state(const Invocation& invocation) {
  OCIRUN_TRY_ASSIGN(const ContainerId id, id_of(invocation.arguments));
  OCIRUN_TRY_ASSIGN(const Store store, Store::open(invocation.options.root, MissingRoot::kIsEmpty));
  OCIRUN_TRY_ASSIGN(StateDirectory directory, store.find(id));
  const auto container = Container::load(directory, id);
  if (container) {
    OCIRUN_TRY(print(bundle::state_text(container->state())));
    return 0;
  }
  const bundle::StateDocument unfinished = state_of_unfinished(directory, id);
  if (unfinished.status == Status::kUnknown) return std::unexpected(container.error());
  OCIRUN_TRY(print(bundle::state_text(unfinished)));
  return 0;
}

Result<int> run_list(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  OCIRUN_TRY_ASSIGN(const bool is_json, wants_json(arguments));
  const MissingRoot missing =
      invocation.options.root_is_explicit ? MissingRoot::kIsAnError : MissingRoot::kIsEmpty;
  OCIRUN_TRY_ASSIGN(const Store store, Store::open(invocation.options.root, missing));
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> ids, store.ids());

  if (arguments.has("quiet")) {
    OCIRUN_TRY_ASSIGN(const std::string lines, ids_text(store, ids));
    OCIRUN_TRY(print(lines));
    return 0;
  }
  OCIRUN_TRY_ASSIGN(const auto states, listed_states(store, ids));
  OCIRUN_TRY(print(is_json ? bundle::list_text(states) : table_text(states)));
  return 0;
}

namespace {

Result<std::string> output_of_ps(std::vector<std::string> words) {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    environment.emplace_back(*entry);
  OCIRUN_TRY_ASSIGN(const std::string path, find_executable("ps", environment, "on the host"));
  words.insert(words.begin(), "ps");
  const linux::ExecArguments arguments(words, environment);
  OCIRUN_TRY_ASSIGN(linux::Pipe ends, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(const linux::Child child,
                    linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ::dup2(ends.writer.get(), STDOUT_FILENO);
    ::execve(path.c_str(), arguments.argv(), arguments.envp());
    ::_exit(127);
  }
  ends.writer.reset();
  std::string output;
  std::array<char, 8192> buffer;
  for (ssize_t count = 0; (count = ::read(ends.reader.get(), buffer.data(), buffer.size())) > 0;)
    output.append(buffer.data(), static_cast<std::size_t>(count));
  OCIRUN_TRY_ASSIGN(const int status, linux::wait_for_child(child.pid));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return refuse(
        "ps {}: its own message says why; ps(1) has the options that may follow the container's id",
        linux::describe_end(status));
  return output;
}

// Returns the header and the lines whose PID column holds a pid of `pids`.
Result<std::string> filter_lines(std::string_view output, const std::vector<int>& pids) {
  const std::string_view header = linux::cut(output, '\n');
  const auto titles = linux::words(header);
  const auto column = std::ranges::find(titles, "PID");
  if (column == titles.end())
    return refuse("ps printed no PID column; its arguments must ask for one");
  const auto index = static_cast<std::size_t>(column - titles.begin());
  std::string text = std::string(header) + "\n";
  while (!output.empty()) {
    const std::string_view line = linux::cut(output, '\n');
    const auto words = linux::words(line);
    const auto pid = index < words.size() ? linux::number<int>(words[index]) : std::nullopt;
    if (pid && std::ranges::find(pids, *pid) != pids.end()) text += std::string(line) + "\n";
  }
  return text;
}

}  // namespace

Result<int> run_ps(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  OCIRUN_TRY_ASSIGN(const bool is_json, wants_json(arguments));
  OCIRUN_TRY_ASSIGN(const ContainerId id, id_of(arguments));
  OCIRUN_TRY_ASSIGN(const Container container, Container::load(invocation.options, id));
  OCIRUN_TRY_ASSIGN(const auto cgroup, container.cgroup());
  auto pids = cgroup->pids();
  if (!pids && container.status() == Status::kStopped) pids = std::vector<int>{};
  if (container.record().cgroup_manager == CgroupManager::kDisabled &&
      container.status() != Status::kStopped) {
    OCIRUN_TRY_ASSIGN(const auto found,
                      find_processes(container.init().pid, container.record().own_pid_namespace));
    pids.emplace();
    std::ranges::transform(found, std::back_inserter(*pids), &linux::ProcessIdentity::pid);
  }
  OCIRUN_TRY(pids);
  if (is_json) {
    OCIRUN_TRY(print(bundle::pids_text(*pids)));
    return 0;
  }
  std::vector<std::string> words(arguments.operands().begin() + 1, arguments.operands().end());
  if (words.empty()) words = {"-ef"};
  OCIRUN_TRY_ASSIGN(const std::string output, output_of_ps(std::move(words)));
  OCIRUN_TRY_ASSIGN(const std::string lines, filter_lines(output, *pids));
  OCIRUN_TRY(print(lines));
  return 0;
}

namespace {

Result<void> print_line(const std::string& event) { return print(event + "\n"); }

}  // namespace

Result<int> run_events(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  OCIRUN_TRY_ASSIGN(
      const std::chrono::nanoseconds interval,
      within(parse_duration(arguments.value("interval").value_or("5s")), "--interval"));
  OCIRUN_TRY_ASSIGN(const ContainerId id, id_of(arguments));
  OCIRUN_TRY_ASSIGN(const Container container, Container::load(invocation.options, id));
  if (container.status() == Status::kStopped)
    return refuse("container with id {} is not running", id.string());
  if (arguments.has("stats")) {
    OCIRUN_TRY_ASSIGN(const bundle::ContainerStats stats, read_container_stats(container));
    OCIRUN_TRY(print_line(bundle::stats_event(id.string(), stats)));
    return 0;
  }
  OCIRUN_TRY(follow_container(container, interval, invocation.log, print_line));
  return 0;
}

}  // namespace ocirun::runtime::cli
