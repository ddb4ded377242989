// Calls from a task's creation to its end: Create, Start, Exec, Delete.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/programs/program.hpp"
#include "shim/options/runtime_record.hpp"
#include "shim/tasks/console.hpp"
#include "shim/tasks/rootfs.hpp"
#include "shim/tasks/tasks.hpp"

namespace ocirun::shim {

using ttrpc::Answer;
using ttrpc::answer_with;
using ttrpc::Code;

namespace {

// How long Delete waits for the last output: processes that a container has left behind may keep
// its streams open for ever.
constexpr std::chrono::seconds kOutputPatience{2};
// How long Delete waits for a logging program, which may have something to finish.
constexpr std::chrono::seconds kLoggerPatience{10};

Answer pid_response(const Process& process) {
  auto response = new_message<Shim__PidResponse>();
  response.pid = static_cast<std::uint32_t>(process.pid);
  return bytes_of(response);
}

bool is_file_name(const std::string& text) {
  return !text.empty() && text != "." && text != ".." && text.find('/') == std::string::npos;
}

/// Whether config.json of the bundle asks for a new pid namespace.
Result<bool> has_own_pid_namespace(const std::string& directory) {
  const std::string path = directory + "/config.json";
  OCIRUN_TRY_ASSIGN(const std::string text,
                    linux::read_file(Fd{AT_FDCWD}, path, bundle::Document::kMaxSize, O_NOFOLLOW));
  bundle::Document document;
  bundle::Report report;
  if (!document.parse(text, report) || !document.root()->is_object())
    return refuse("{}: is no JSON object", path);
  const bundle::Node* const linux_part = document.root()->find("linux");
  if (linux_part == nullptr || !linux_part->is_object()) return false;
  const bundle::Node* const namespaces = linux_part->find("namespaces");
  if (namespaces == nullptr || !namespaces->is_array()) return false;
  for (const bundle::Node* node = namespaces->first; node != nullptr; node = node->next) {
    const bundle::Node* const type = node->is_object() ? node->find("type") : nullptr;
    if (type == nullptr || !type->is_string() || type->text != "pid") continue;
    const bundle::Node* const joined = node->find("path");
    return joined == nullptr || (joined->is_string() && joined->text.empty());
  }
  return false;
}

std::string pid_file_of(const Container& container, const Process& process) {
  return process.exec_id.empty() ? container.bundle + "/init.pid"
                                 : fmt::format("{}/exec.{}.pid", container.bundle, process.exec_id);
}

}  // namespace

Async<Answer> Tasks::create(Payload payload) {
  const auto request = Received<Shim__CreateRequest>::read(payload);
  if (!request) co_return answer_with(Code::kInvalidArgument, "this is no CreateTaskRequest");
  const Shim__CreateRequest& given = **request;
  const std::string id = given.id;
  if (!is_file_name(id)) co_return answer_with(Code::kInvalidArgument, "\"{}\" is no id", id);
  if (containers_.contains(id))
    co_return answer_with(Code::kAlreadyExists, "the task {} exists: already exists", id);
  const auto options = given.options == nullptr
                           ? parse_options("", "")
                           : parse_options(given.options->type_url, bytes_of(given.options->value));
  if (!options) co_return answer_with(Code::kInvalidArgument, "{}", options.error().message());
  const auto choice = choose_runtime(*options, place_.container_namespace);
  if (!choice) co_return answer_with(choice.error());

  auto container =
      std::make_shared<Container>(loop_, Runtime(children_, *choice, place_.scratch_prefix));
  container->id = id;
  container->bundle = given.bundle;
  container->checkpoint = given.checkpoint;
  container->options = *options;
  container->init->names = {
      .in = given.in, .out = given.out, .err = given.err, .terminal = given.terminal != 0};
  containers_.emplace(id, container);
  had_any_ = true;
  const Gate::Pass pass = co_await container->gate.enter();
  container->has_mounts = given.n_rootfs != 0;
  Result<void> made;
  if (container->has_mounts) {
    // If the shim is killed meanwhile, `delete` may have unmounted before the mount is there.
    std::function<Result<void>()> mount = [&given, &container,
                                           shim = ::getpid()]() -> Result<void> {
      const std::string rootfs = container->rootfs();
      if (::getppid() == shim) OCIRUN_TRY(mount_rootfs({given.rootfs, given.n_rootfs}, rootfs));
      if (::getppid() != shim) return unmount_rootfs(rootfs);
      return {};
    };
    made = co_await children_.call(std::move(mount), "mount the root filesystem");
  }
  if (made) made = co_await make(container);
  if (!made) {
    if (container->is_made_here || container->init->pid != 0) {
      std::vector<std::string> words{"delete", "--force", id};
      ignore(co_await container->runtime.run(std::move(words)));
    }
    stop_watching(*container);
    ignore(co_await unmount(container));
    containers_.erase(id);
    give_up(*container->init);
    co_return answer_with(Code::kUnknown, "OCI runtime create failed: {}", made.error().message());
  }
  container->is_created = true;
  publish_create(*container, given);
  co_return pid_response(*container->init);
}

Async<Result<void>> Tasks::make(ContainerPointer container) {
  if (auto written = write_runtime_record(container->bundle, container->runtime.choice()); !written)
    co_return written;
  auto own_pids = has_own_pid_namespace(container->bundle);
  if (!own_pids) co_return std::unexpected(own_pids.error());
  container->has_own_pids = *own_pids;
  const Result<void> opened = co_await open_streams(container, container->init);
  if (!opened) co_return opened;
  if (!container->checkpoint.empty()) co_return Result<void>();  // Start restores it
  // A container of this id that is there already is somebody else's.
  const std::string state = fmt::format("{}/{}", container->runtime.choice().root, container->id);
  container->is_made_here = is_missing(linux::sys::fstatat(Fd{AT_FDCWD}, state.c_str()));
  std::vector<std::string> words{"create", "--bundle", container->bundle};
  if (container->options.no_pivot_root) words.emplace_back("--no-pivot");
  if (container->options.no_new_keyring) words.emplace_back("--no-new-keyring");
  Result<void> made = co_await run_process(container, container->init, std::move(words),
                                           pid_file_of(*container, *container->init));
  if (made) watch_cgroup(container);
  co_return made;
}

Async<Result<void>> Tasks::unmount(ContainerPointer container) {
  if (!container->has_mounts) co_return Result<void>();
  std::function<Result<void>()> unmount = [&container] {
    return unmount_rootfs(container->rootfs());
  };
  Result<void> done = co_await children_.call(std::move(unmount), "unmount the root filesystem");
  co_return done;
}

Async<Result<void>> Tasks::open_streams(ContainerPointer container, ProcessPointer process) {
  const PipeOwner owner{container->options.io_uid, container->options.io_gid};
  const LoggedContainer logged{container->id, place_.container_namespace};
  auto streams = co_await Streams::open(children_, process->names, owner, logged);
  if (!streams) co_return std::unexpected(streams.error());
  process->streams = *streams;
  if (process->is_input_closed) process->streams->close_stdin();
  co_return Result<void>();
}

/// Runs the command of the runtime that makes a process, and takes over its streams. The id of the
/// container is the command's last word.
Async<Result<void>> Tasks::run_process(ContainerPointer container, ProcessPointer process,
                                       std::vector<std::string> words, std::string pid_file) {
  std::optional<ConsoleSocket> console;
  if (process->names.terminal) {
    auto made = ConsoleSocket::make(next_console_path());
    if (!made) co_return std::unexpected(made.error());
    console.emplace(*std::move(made));
    words.insert(words.end(), {"--console-socket", console->path()});
  }
  words.insert(words.end(), {"--pid-file", pid_file, container->id});
  process->streams->start_pipes();
  const Children::Memory memory(children_);  // the process may end before its pid is known
  std::vector<Fd> descriptors = process->streams->for_runtime();
  const Result<void> done = co_await container->runtime.run(std::move(words), descriptors);
  if (!done) co_return done;
  const auto pid = linux::read_pid_file(pid_file);
  if (!pid) co_return std::unexpected(pid.error());
  process->pid = *pid;
  expect_end(container, process, memory);
  Result<void> connected;
  UniqueFd master;
  if (console) {
    auto taken = console->take_master();
    if (taken)
      master = *std::move(taken);
    else
      connected = std::unexpected(taken.error());
  }
  if (connected) connected = process->streams->start(std::move(master));
  // Nobody would read the output of the process.
  if (!connected && children_.is_expected(process->pid)) ::kill(process->pid, SIGKILL);
  co_return connected;
}

Async<Answer> Tasks::start(Payload payload) {
  const auto target = find_named(payload);
  if (!target) co_return std::unexpected(target.error());
  const auto [container, process] = *target;
  const Gate::Pass pass = co_await container->gate.enter();
  if (!is_current(*container, *process))
    co_return answer_with(Code::kNotFound, "the process was deleted: not found");
  const bool is_init = process == container->init;
  const bool was_made = process->pid != 0 && (!is_init || !container->checkpoint.empty());
  if (process->is_announced || was_made)
    co_return answer_with(Code::kFailedPrecondition,
                          "the process was started before: failed precondition");
  Result<void> started;
  if (is_init)
    started = co_await start_init(container);
  else
    started = co_await start_exec(container, process);
  if (!started)
    co_return answer_with(Code::kUnknown, "OCI runtime {} failed: {}", is_init ? "start" : "exec",
                          started.error().message());
  announce(*container, *process);
  co_return pid_response(*process);
}

Async<Result<void>> Tasks::start_init(ContainerPointer container) {
  if (container->checkpoint.empty()) {
    if (container->init->ended.is_given()) co_return refuse("the container's init has ended");
    std::vector<std::string> words{"start", container->id};
    Result<void> started = co_await container->runtime.run(std::move(words));
    co_return started;
  }
  std::vector<std::string> words{"restore",      "--detach",
                                 "--image-path", container->checkpoint,
                                 "--work-path",  container->criu_work_path(),
                                 "--bundle",     container->bundle};
  if (container->options.no_pivot_root) words.emplace_back("--no-pivot");
  Result<void> restored = co_await run_process(container, container->init, std::move(words),
                                               pid_file_of(*container, *container->init));
  if (restored) watch_cgroup(container);
  co_return restored;
}

Async<Result<void>> Tasks::start_exec(ContainerPointer container, ProcessPointer process) {
  const Result<void> opened = co_await open_streams(container, process);
  if (!opened) co_return opened;
  const std::string file = fmt::format("{}/exec.{}.json", container->bundle, process->exec_id);
  const std::string pid_file = pid_file_of(*container, *process);
  if (auto written = linux::replace_file(Fd{AT_FDCWD}, file, process->spec, 0600); !written)
    co_return written;
  std::vector<std::string> words{"exec", "--detach", "--process", file};
  Result<void> started = co_await run_process(container, process, std::move(words), pid_file);
  ignore(linux::sys::unlinkat(Fd{AT_FDCWD}, file.c_str(), 0));
  ignore(linux::sys::unlinkat(Fd{AT_FDCWD}, pid_file.c_str(), 0));
  process->spec.clear();
  if (!started) process->streams.reset();
  co_return started;
}

Async<Answer> Tasks::exec(Payload payload) {
  const auto request = Received<Shim__ExecRequest>::read(payload);
  if (!request) co_return answer_with(Code::kInvalidArgument, "this is no ExecProcessRequest");
  const Shim__ExecRequest& given = **request;
  const auto container = find(given.id);
  if (!container) co_return std::unexpected(container.error());
  const std::string exec_id = given.exec_id;
  if (!is_file_name(exec_id))
    co_return answer_with(Code::kInvalidArgument, "\"{}\" is no id", exec_id);
  if ((*container)->execs.contains(exec_id))
    co_return answer_with(Code::kAlreadyExists, "the process {} exists: already exists", exec_id);
  auto process = std::make_shared<Process>(loop_);
  process->exec_id = exec_id;
  if (given.spec != nullptr) process->spec = bytes_of(given.spec->value);
  process->names = {
      .in = given.in, .out = given.out, .err = given.err, .terminal = given.terminal != 0};
  (*container)->execs.emplace(exec_id, std::move(process));
  auto event = new_message<Shim__TaskExecAdded>();
  event.container_id = given.id;
  event.exec_id = given.exec_id;
  publisher_.publish("/tasks/exec-added", "containerd.events.TaskExecAdded", event);
  co_return "";
}

Async<Answer> Tasks::remove(Payload payload) {
  const auto target = find_named(payload);
  if (!target) co_return std::unexpected(target.error());
  const auto [container, process] = *target;
  const Gate::Pass pass = co_await container->gate.enter();
  if (!is_current(*container, *process))
    co_return answer_with(Code::kNotFound, "the process was deleted: not found");
  if (process->is_announced && !process->ended.is_given())
    co_return answer_with(Code::kFailedPrecondition,
                          "the process runs: kill it first: failed precondition");
  if (process == container->init) {
    std::vector<std::string> words{"delete", "--force", container->id};
    const Result<void> removed = co_await container->runtime.run(std::move(words));
    if (!removed) co_return answer_with(removed.error());
    stop_watching(*container);
  }
  if (process->pid != 0)
    co_await process->ended;
  else
    give_up(*process);
  co_await end_streams(process);
  if (process == container->init) {
    const Result<void> unmounted = co_await unmount(container);
    if (!unmounted) co_return answer_with(unmounted.error());
    containers_.erase(container->id);
  } else {
    container->execs.erase(process->exec_id);
  }
  publish_delete(*container, *process);
  Shim__Timestamp exited = timestamp_of(process->end.at);
  auto response = new_message<Shim__DeleteResponse>();
  response.pid = static_cast<std::uint32_t>(process->pid);
  response.exit_status = process->end.exit_code();
  response.exited_at = &exited;
  co_return bytes_of(response);
}

/// Waits until all output has been moved, and closes the streams.
Async<> Tasks::end_streams(ProcessPointer process) {
  if (!process->streams) co_return;
  const std::shared_ptr<Streams> streams = process->streams;
  Notice& drained = streams->drained();
  if (!drained.is_given())
    loop_.after(streams->has_logger() ? kLoggerPatience : kOutputPatience,
                [weak = std::weak_ptr(streams)] {
                  if (const auto late = weak.lock()) late->drained().give();
                });
  co_await drained;
  process->streams.reset();
}

}  // namespace ocirun::shim
