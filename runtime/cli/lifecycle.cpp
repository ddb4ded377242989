#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "cgroups/container/cgroup.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/executable.hpp"
#include "linux/sealed/own_program.hpp"
#include "runtime/cli/command.hpp"
#include "runtime/commands/create.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/commands/kill.hpp"
#include "runtime/commands/remove.hpp"
#include "runtime/commands/start.hpp"
#include "runtime/foreground/attend.hpp"
#include "runtime/foreground/learner.hpp"
#include "runtime/foreground/notifications.hpp"
#include "runtime/parent/exhausted_limits.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime::cli {

namespace {

bool is_bundle(const std::string& path) {
  return static_cast<bool>(linux::sys::open((path + "/config.json").c_str(), O_PATH | O_CLOEXEC));
}

// Whether the operand is a bundle, as in `ocirun run ./web`: an argument with a slash, ".", "..",
// or the name of a directory with a config.json.
bool names_a_bundle(const Arguments& arguments) {
  if (arguments.value("bundle")) return false;
  const std::string& word = arguments.operands().front();
  return word.find('/') != std::string::npos || word == "." || word == ".." || is_bundle(word);
}

// An id made from the last part of the bundle's path. Characters that an id may not have are
// replaced.
std::string id_from(const HostPath& bundle) {
  std::array<char, PATH_MAX> real{};
  const char* resolved = ::realpath(bundle.c_str(), real.data());
  const std::string path = resolved == nullptr ? bundle.string() : resolved;
  std::string id = path.substr(path.rfind('/') + 1);
  for (char& c : id)
    if (!ContainerId::parse(std::string("x") + c)) c = '-';
  while (id.starts_with('.')) id.erase(0, 1);
  return id.empty() ? "container" : id;
}

std::unexpected<Error> refuse_without_bundle(const std::string& operand) {
  const auto here = linux::absolute_path(".");
  return refuse(
      "config.json not found in {} (\"{}\" was taken as the id; a bundle is written ./{})",
      here ? here->string() : ".", operand, operand);
}

/// Engines give other options with an empty value, which counts as none. Nobody does these.
Result<void> refuse_empty(const Arguments& arguments, std::string_view option) {
  if (arguments.has(option) && !arguments.value(option))
    return refuse("--{}: has an empty value: give a path, or leave the option out", option);
  return {};
}

Result<CreateRequest> read_request(const Invocation& invocation, TerminalKeeper keeper,
                                   bool bundle_may_be_operand) {
  const Arguments& arguments = invocation.arguments;
  OCIRUN_TRY(refuse_empty(arguments, "pin-namespaces"));
  const bool by_bundle = bundle_may_be_operand && names_a_bundle(arguments);
  if (bundle_may_be_operand && !by_bundle && !arguments.value("bundle") && !is_bundle("."))
    return refuse_without_bundle(arguments.operands().front());
  const std::string word =
      by_bundle ? arguments.operands().front() : arguments.value("bundle").value_or(".");
  OCIRUN_TRY_ASSIGN(HostPath bundle, linux::absolute_path(word));
  OCIRUN_TRY_ASSIGN(ContainerId id,
                    by_bundle ? ContainerId::parse(id_from(bundle)) : id_of(arguments));
  return CreateRequest{.id = std::move(id),
                       .bundle = std::move(bundle),
                       .console_socket = arguments.path("console-socket"),
                       .announcement = {.pid_file = arguments.path("pid-file"),
                                        .pidfd_socket = arguments.path("pidfd-socket")},
                       .namespace_pins = arguments.path("pin-namespaces"),
                       .terminal_keeper = keeper,
                       .pivot = !arguments.has("no-pivot"),
                       .new_keyring = !arguments.has("no-new-keyring"),
                       .inheritance = invocation.inheritance};
}

// The service manager, if there is one. The container also runs if ocirun cannot reach the service
// manager.
std::optional<Supervisor> find_supervisor(const Log& log) {
  auto supervisor = Supervisor::connect();
  if (supervisor) return *std::move(supervisor);
  log.warn(supervisor.error().message());
  return std::nullopt;
}

Result<std::optional<SeccompLearner>> spawn_learner(const Arguments& arguments) {
  OCIRUN_TRY(refuse_empty(arguments, "seccomp-learn"));
  auto file = arguments.path("seccomp-learn");
  if (!file) return std::nullopt;
  if (arguments.has("detach"))
    return refuse(
        "--seccomp-learn: not with --detach, because `run` notes the calls until the end");
  OCIRUN_TRY_ASSIGN(SeccompLearner learner, SeccompLearner::spawn(*std::move(file)));
  return learner;
}

}  // namespace

Result<int> run_create(const Invocation& invocation) {
  OCIRUN_TRY_ASSIGN(const CreateRequest request,
                    read_request(invocation, TerminalKeeper::kConsoleSocket, false));
  OCIRUN_TRY(create_container(invocation.options, invocation.log, request));
  return 0;
}

Result<int> run_run(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const bool detach = arguments.has("detach");
  const bool keeps_terminal = !detach && !arguments.value("console-socket");
  OCIRUN_TRY_ASSIGN(
      CreateRequest request,
      read_request(invocation,
                   keeps_terminal ? TerminalKeeper::kCaller : TerminalKeeper::kConsoleSocket,
                   true));
  const std::optional<Supervisor> supervisor = find_supervisor(invocation.log);
  request.notifies = supervisor.has_value();
  request.is_attended = !detach && !arguments.has("keep");
  OCIRUN_TRY_ASSIGN(std::optional<SeccompLearner> learner, spawn_learner(arguments));
  if (learner) request.learner = &*learner;
  OCIRUN_TRY_ASSIGN(const CreatedContainer container,
                    create_container(invocation.options, invocation.log, request));

  const auto remove = [&]() -> Result<void> {
    OCIRUN_TRY(container.directory.lock(kLockPatience));
    if (!container.directory.exists()) return {};  // another command has deleted the container
    return destroy_container(container.directory, container.record, invocation.log);
  };
  std::optional<Notifications> notifications;
  if (container.notify_socket)
    notifications.emplace(container.notify_socket, *supervisor,
                          detach ? container.init.pid : ::getpid(), invocation.log);
  auto started = start_container(container.directory, container.record, invocation.log);
  if (started) container.directory.unlock();  // other commands may use the container while it runs
  if (started && detach && notifications)
    started = await_ready(container.init, *notifications, *supervisor, invocation.log);
  if (!started) {
    const auto removed = remove();
    if (!removed) invocation.log.warn(removed.error().message());
    request.announcement.take_back();
    return std::unexpected(started.error());
  }
  if (detach) return 0;
  finish(invocation.recording, invocation.log);
  OCIRUN_TRY_ASSIGN(const int status, attend(container.init, container.terminal,
                                             notifications ? &*notifications : nullptr));
  warn_of_oom(status, container.record, 0, invocation.log);
  const auto removed = arguments.has("keep") ? Result<void>{} : remove();
  if (learner) OCIRUN_TRY(learner->finish(invocation.log));
  OCIRUN_TRY(removed);
  return status;
}

Result<int> run_start(const Invocation& invocation) {
  OCIRUN_TRY_ASSIGN(const ContainerId id, id_of(invocation.arguments));
  OCIRUN_TRY_ASSIGN(Container container, Container::load(invocation.options, id));
  OCIRUN_TRY(container.lock_and_reload());
  const Status status = container.status();
  if (!can_start(status)) return refuse_start(status);
  OCIRUN_TRY(refuse_foreign(container.directory()));
  OCIRUN_TRY(start_container(container.directory(), container.record(), invocation.log));
  return 0;
}

Result<int> run_kill(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  OCIRUN_TRY_ASSIGN(const ContainerId id, id_of(arguments));
  OCIRUN_TRY_ASSIGN(const Container container, Container::load(invocation.options, id));
  std::string name =
      arguments.operands().size() > 1 ? arguments.operands()[1] : container.record().stop_signal;
  if (name.empty()) name = "TERM";
  OCIRUN_TRY_ASSIGN(const int signal, linux::parse_signal(name));
  OCIRUN_TRY_ASSIGN(
      const std::size_t left,
      kill_container(container, signal, arguments.has("all") ? KillScope::kAll : KillScope::kInit));
  if (left != 0)
    invocation.log.info(fmt::format(
        "the container's init has ended; signal {} went to the {} process{} left in its "
        "cgroup",
        signal, left, left == 1 ? "" : "es"));
  return 0;
}

Result<int> run_delete(const Invocation& invocation) {
  OCIRUN_TRY_ASSIGN(const ContainerId id, id_of(invocation.arguments));
  OCIRUN_TRY(delete_container(invocation.options, id,
                              invocation.arguments.has("force") ? Force::kYes : Force::kNo,
                              invocation.log));
  return 0;
}

namespace {

Result<int> change_freezer(const Invocation& invocation, bool (*is_allowed)(Status),
                           cgroups::FreezerState state) {
  OCIRUN_TRY_ASSIGN(const ContainerId id, id_of(invocation.arguments));
  OCIRUN_TRY_ASSIGN(Container container, Container::load(invocation.options, id));
  OCIRUN_TRY(container.lock_and_reload());
  const Status status = container.status();
  if (!is_allowed(status))
    return refuse("container is {}: it must be {}", status_name(status),
                  state == cgroups::FreezerState::kFrozen ? "created or running" : "paused");
  if (container.record().cgroup_manager == CgroupManager::kDisabled)
    return refuse(
        "the container has no cgroup of its own that could be frozen: it was created with "
        "--cgroup-manager=disabled, or by a user without a delegated cgroup");
  OCIRUN_TRY_ASSIGN(const auto cgroup, container.cgroup());
  OCIRUN_TRY(cgroup->freeze(state));
  return 0;
}

}  // namespace

Result<int> run_pause(const Invocation& invocation) {
  return change_freezer(invocation, can_pause, cgroups::FreezerState::kFrozen);
}
Result<int> run_resume(const Invocation& invocation) {
  return change_freezer(invocation, can_resume, cgroups::FreezerState::kThawed);
}

Error become_pod_program(std::span<const std::string> options,
                         std::span<const std::string> operands) {
  const auto path = linux::find_own_program("ocirun-pod");
  if (!path) return path.error();
  std::vector<std::string> words{"ocirun-pod", linux::executable_directory() + "/ocirun",
                                 fmt::format("{}", options.size())};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), operands.begin(), operands.end());
  const linux::ExecArguments arguments(words, {});
  ::execve(path->c_str(), arguments.argv(), environ);
  return Error(errno, fmt::format("execute {}", *path));
}

}  // namespace ocirun::runtime::cli
