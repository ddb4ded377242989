#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/commands/create.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/commands/start.hpp"
#include "runtime/foreground/attend.hpp"
#include "runtime/foreground/notifications.hpp"
#include "runtime/parent/exhausted_limits.hpp"

namespace ocirun::runtime::cli {
namespace {

bool is_bundle(const std::string& path) {
  return static_cast<bool>(linux::sys::open((path + "/config.json").c_str(), O_PATH | O_CLOEXEC));
}

// Whether the operand is a bundle, as in `ocirun run ./web`: an argument with a slash, ".", "..",
// or the name of a directory with a config.json.
bool names_a_bundle(const Arguments& arguments) {
  if (arguments.value("bundle")) return false;
  const std::string& word = arguments.positionals.front();
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

Result<CreateRequest> read_request(const Invocation& invocation, TerminalKeeper keeper,
                                   bool bundle_may_be_operand) {
  const Arguments& arguments = invocation.arguments;
  const bool by_bundle = bundle_may_be_operand && names_a_bundle(arguments);
  if (bundle_may_be_operand && !by_bundle && !arguments.value("bundle") && !is_bundle("."))
    return refuse_without_bundle(arguments.positionals.front());
  const std::string word =
      by_bundle ? arguments.positionals.front() : arguments.value("bundle").value_or(".");
  TRY_ASSIGN(HostPath bundle, linux::absolute_path(word));
  TRY_ASSIGN(ContainerId id, by_bundle ? ContainerId::parse(id_from(bundle)) : arguments.id());
  return CreateRequest{.id = std::move(id),
                       .bundle = std::move(bundle),
                       .console_socket = arguments.path("console-socket"),
                       .announcement = {.pid_file = arguments.path("pid-file"),
                                        .pidfd_socket = arguments.path("pidfd-socket")},
                       .terminal_keeper = keeper,
                       .pivot = !arguments.has("no-pivot"),
                       .new_keyring = !arguments.has("no-new-keyring"),
                       .inheritance = invocation.inheritance};
}

// The service manager, if there is one. If it cannot be reached, the container runs without it.
std::optional<Supervisor> find_supervisor(const Log& log) {
  auto supervisor = Supervisor::connect();
  if (supervisor) return *std::move(supervisor);
  log.warn(supervisor.error().message());
  return std::nullopt;
}

}  // namespace

Result<int> run_create(const Invocation& invocation) {
  TRY_ASSIGN(const CreateRequest request,
             read_request(invocation, TerminalKeeper::kConsoleSocket, false));
  TRY(create_container(invocation.options, invocation.log, request));
  return 0;
}

Result<int> run_run(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const bool detach = arguments.has("detach");
  const bool keeps_terminal = !detach && !arguments.value("console-socket");
  TRY_ASSIGN(CreateRequest request,
             read_request(invocation,
                          keeps_terminal ? TerminalKeeper::kCaller : TerminalKeeper::kConsoleSocket,
                          true));
  const std::optional<Supervisor> supervisor = find_supervisor(invocation.log);
  request.notifies = supervisor.has_value();
  request.is_attended = !detach && !arguments.has("keep");
  TRY_ASSIGN(const CreatedContainer container,
             create_container(invocation.options, invocation.log, request));

  const auto remove = [&]() -> Result<void> {
    TRY(container.directory.lock(kLockPatience));
    if (!container.directory.exists()) return {};  // another command has deleted it
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
  TRY_ASSIGN(const int status,
             attend(container.init, container.terminal, notifications ? &*notifications : nullptr));
  warn_of_oom(status, container.record, 0, invocation.log);
  if (!arguments.has("keep")) TRY(remove());
  return status;
}

}  // namespace ocirun::runtime::cli
