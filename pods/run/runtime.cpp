#include "pods/run/runtime.hpp"

#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <limits>

#include "bundle/json/document.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/programs/program.hpp"

namespace ocirun::pods {
namespace {

std::string pid_file_of(const std::string& bundle) { return bundle + "/pid"; }

}  // namespace

std::vector<std::string> Runtime::words(std::vector<std::string> command) const {
  command.insert(command.begin(), command_.begin(), command_.end());
  return command;
}

/// How errors name a command of the runtime.
std::string Runtime::shown(const std::string& command) const {
  return fmt::format("{} {}", command_.front(), command);
}

Result<Command> Runtime::begin(std::vector<std::string> command) const {
  std::string what = shown(command.front());
  return Command::run(words(std::move(command)), std::move(what));
}

Result<void> Runtime::run(std::vector<std::string> command) const {
  const std::string what = shown(command.front());
  return within(linux::run_program(words(std::move(command))), what);
}

Result<Command> Runtime::begin_start(const std::string& id) const { return begin({"start", id}); }

Result<Command> Runtime::begin_state(const std::string& id) const { return begin({"state", id}); }

Result<Command> Runtime::begin_kill(const std::string& id, int signal) const {
  return begin({"kill", id, fmt::format("{}", signal)});
}

Result<Command> Runtime::begin_remove(const std::string& id) const {
  return begin({"delete", "--force", id});
}

Result<Command> Runtime::begin_create(const std::string& id, const std::string& bundle,
                                      const linux::Streams& streams) const {
  return Command::run(words({"create", "--bundle", bundle, "--pid-file", pid_file_of(bundle), id}),
                      streams, shown("create"));
}

Result<int> Runtime::read_pid(const std::string& bundle) {
  return linux::read_pid_file(pid_file_of(bundle));
}

Result<Runtime::State> Runtime::find_state(const std::string& id) const {
  const std::string what = fmt::format("{} state {}", command_.front(), id);
  OCIRUN_TRY_ASSIGN(Command command, begin_state(id));
  OCIRUN_TRY_ASSIGN(const std::string text, command.await());
  OCIRUN_TRY_ASSIGN(State state, parse_state(text, what));
  const bool has_program = state.status == "running" || state.status == "paused";
  if (has_program && state.pid <= 1) return refuse("{}: tells no pid", what);
  return state;
}

/// `what` names the command in errors.
Result<Runtime::State> Runtime::parse_state(std::string_view text, std::string_view what) {
  bundle::Document document;
  bundle::Report report;
  if (!document.parse(text, report)) return refuse("{}: writes no JSON", what);
  const auto text_of = [&](const char* name) {
    const bundle::Node* member = document.root()->find(name);
    return std::string(member != nullptr && member->is_string() ? member->text : "");
  };
  State state{.status = text_of("status"), .bundle = text_of("bundle"), .pid = 0};
  if (state.status.empty()) return refuse("{}: tells no status", what);
  const bundle::Node* pid = document.root()->find("pid");
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  if (pid != nullptr && pid->kind == bundle::Node::Kind::kNatural && pid->number <= kMost)
    state.pid = static_cast<int>(pid->number);
  return state;
}

Result<int> Runtime::find_pid(const std::string& id) const {
  OCIRUN_TRY_ASSIGN(const State state, find_state(id));
  if (state.status != "running")
    return refuse("the container is {}", bundle::escaped(state.status));
  return state.pid;
}

Result<std::optional<int>> Runtime::find_program(const ContainerRecord& container) const {
  if (container.is_init || container.status != ContainerStatus::kRunning) return std::nullopt;
  auto found = find_state(container.id);
  const bool is_gone =
      !found && container.pid != 0 && ::kill(container.pid, 0) != 0 && errno == ESRCH;
  if (is_gone) return std::nullopt;
  OCIRUN_TRY_ASSIGN(const State state,
                    within(std::move(found), "container \"{}\"", container.name));
  if (state.status == "running" || state.status == "paused") return state.pid;
  return std::nullopt;
}

Result<void> Runtime::kill(const std::string& id, int signal) const {
  return run({"kill", id, fmt::format("{}", signal)});
}

Result<void> Runtime::remove(const ContainerRecord& container, const std::string& bundle,
                             std::chrono::seconds patience) const {
  OCIRUN_TRY_ASSIGN(Command asked, begin_state(container.id));
  asked.hurry(patience);
  const auto answer = asked.await();
  const Owner owner = owner_of(answer, container.id, bundle);
  if (owner == Owner::kOther) return {};
  if (owner == Owner::kUnknown && !container.was_free)
    return refuse("the container \"{}\" is not removed, because it may be somebody else's: {}",
                  container.id, answer ? "`state` tells no bundle" : answer.error().message());
  OCIRUN_TRY_ASSIGN(Command removal, begin_remove(container.id));
  removal.hurry(patience);
  const auto removed = removal.await();
  // Some runtimes fail if there is nothing to remove.
  if (!removed && owner != Owner::kNobody) return std::unexpected(removed.error());
  return {};
}

std::vector<std::string> Runtime::exec_command(const std::string& id, const std::string& pid_file,
                                               const std::vector<std::string>& arguments) const {
  std::vector<std::string> command = words({"exec", "--pid-file", pid_file, id});
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

namespace {

constexpr int kNotFound = 127, kNotExecutable = 126;

bool has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

/// The lists that command lines are read from, as paths of at most two names.
using Path = std::array<std::string_view, 2>;
constexpr std::array kCommands{Path{"command"}, Path{"cmd"}, Path{"app", "exec"},
                               Path{"process", "args"}};
constexpr Path kArguments{"args"};

/// The first word of a list below a container; nullptr if there is none.
Place first_word(const bundle::Node& container, const Path& path) {
  const bundle::Node* list = container.find(path[0]);
  if (list != nullptr && !path[1].empty()) list = list->find(path[1]);
  if (list == nullptr || !list->is_array()) return nullptr;
  return list->first;
}

}  // namespace

Owner Runtime::owner_of(const Result<std::string>& answer, const std::string& id,
                        const std::string& bundle) {
  if (!answer) {
    const std::string said = answer.error().message();
    // A runtime that cannot work says of other files that they do not exist.
    const bool is_about_id = has(said, id) && (has(said, "o such file") || has(said, "ot found"));
    const bool is_nobodys = has(said, "not exist") || has(said, "o such container") || is_about_id;
    return is_nobodys ? Owner::kNobody : Owner::kUnknown;
  }
  const auto state = parse_state(*answer, "state");
  if (!state || state->bundle.empty()) return Owner::kUnknown;
  if (state->bundle == bundle) return Owner::kUs;
  // A runtime may have followed links in the path.
  const auto ours = linux::sys::open(bundle.c_str(), O_PATH | O_DIRECTORY);
  const auto theirs = linux::sys::open(state->bundle.c_str(), O_PATH | O_DIRECTORY);
  const bool is_same = ours && theirs && linux::sys::is_same_file(*ours, *theirs).value_or(false);
  return is_same ? Owner::kUs : Owner::kOther;
}

// The words of runc, crun and ocirun, which differ in the case of the first letter.
std::optional<int> status_of_missing_program(std::string_view said) {
  const bool is_about_program = has(said, "exec: ") || has(said, "executable");
  if (!is_about_program) return std::nullopt;
  if (has(said, "not found") || has(said, "no such file or directory") ||
      has(said, "No such file or directory"))
    return kNotFound;
  if (has(said, "ermission denied") || has(said, "xec format error") || has(said, "s a directory"))
    return kNotExecutable;
  return std::nullopt;
}

int failure_status(const PodRecord& record) {
  for (const ContainerRecord& container : record.containers) {
    const int code = container.exit_code.value_or(0);
    if (container.started_at.empty() && (code == kNotFound || code == kNotExecutable)) return code;
  }
  return 1;
}

Place place_of_program(const Container& container, std::string_view program) {
  if (container.place == nullptr || !container.place->is_object()) return container.image_place;
  for (const Path& path : kCommands)
    if (const Place word = first_word(*container.place, path)) return word;
  const Place word = first_word(*container.place, kArguments);
  return word != nullptr && word->text == program ? word : container.image_place;
}

}  // namespace ocirun::pods
