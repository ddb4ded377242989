// Calls that change a task: Kill, Pause, Resume, Update, Checkpoint.

#include <cerrno>
#include <csignal>
#include <initializer_list>

#include "shim/tasks/tasks.hpp"

namespace ocirun::shim {

using ttrpc::Answer;
using ttrpc::answer_with;
using ttrpc::Code;

namespace {

std::string first_given(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts)
    if (!text.empty()) return std::string(text);
  return "";
}

}  // namespace

Async<Answer> Tasks::kill(Payload payload) {
  const auto request = Received<Shim__KillRequest>::read(payload);
  if (!request) co_return answer_with(Code::kInvalidArgument, "this is no KillRequest");
  const Shim__KillRequest& given = **request;
  const auto target = find(given.id, given.exec_id);
  if (!target) co_return std::unexpected(target.error());
  const auto [container, process] = *target;
  const auto signal = static_cast<int>(given.signal);
  if (given.signal == 0 || given.signal > static_cast<std::uint32_t>(SIGRTMAX))
    co_return answer_with(Code::kInvalidArgument, "there is no signal {}", given.signal);
  if (process->ended.is_given())
    co_return answer_with(Code::kNotFound, "process already finished: not found");
  if (process->pid == 0)
    co_return answer_with(Code::kFailedPrecondition,
                          "the process does not run yet: failed precondition");
  const bool is_init = process == container->init;
  // The runtime has to thaw a paused container, so that SIGKILL arrives, and it knows all processes
  // of a container. Otherwise the shim signals `process` itself: it is a child of the shim, so no
  // other process can have its pid.
  if (is_init && (given.all != 0 || process->state == TaskState::kPaused)) {
    std::vector<std::string> words{"kill"};
    if (given.all != 0) words.emplace_back("--all");
    words.insert(words.end(), {container->id, std::to_string(signal)});
    const Result<void> killed = co_await container->runtime.run(std::move(words));
    if (killed) co_return "";
    if (process->ended.is_given())
      co_return answer_with(Code::kNotFound, "process already finished: not found");
    co_return answer_with(killed.error());
  }
  if (::kill(process->pid, signal) != 0)
    co_return answer_with(fail(errno, "kill {}", process->pid).error());
  co_return "";
}

Async<Answer> Tasks::freeze(Payload payload, bool is_pause) {
  const auto target = find_named(payload);
  if (!target) co_return std::unexpected(target.error());
  const ContainerPointer& container = target->container;
  const Gate::Pass pass = co_await container->gate.enter();
  if (!is_current(*container, *container->init))
    co_return answer_with(Code::kNotFound, "the task was deleted: not found");
  const TaskState from = is_pause ? TaskState::kRunning : TaskState::kPaused;
  if (container->init->state != from)
    co_return answer_with(Code::kFailedPrecondition, "the task {}: failed precondition",
                          is_pause ? "does not run" : "is not paused");
  std::vector<std::string> words{is_pause ? "pause" : "resume", container->id};
  const Result<void> done = co_await container->runtime.run(std::move(words));
  if (!done) co_return answer_with(done.error());
  if (!container->init->ended.is_given())
    container->init->state = is_pause ? TaskState::kPaused : TaskState::kRunning;
  auto event = new_message<Shim__TaskPaused>();
  event.container_id = in_message(container->id);
  if (is_pause)
    publisher_.publish("/tasks/paused", "containerd.events.TaskPaused", event);
  else
    publisher_.publish("/tasks/resumed", "containerd.events.TaskResumed", event);
  co_return "";
}

Async<Answer> Tasks::pause(Payload payload) { return freeze(std::move(payload), true); }
Async<Answer> Tasks::resume(Payload payload) { return freeze(std::move(payload), false); }

Async<Answer> Tasks::update(Payload payload) {
  const auto request = Received<Shim__UpdateRequest>::read(payload);
  if (!request) co_return answer_with(Code::kInvalidArgument, "this is no UpdateTaskRequest");
  const auto found = find((*request)->id);
  if (!found) co_return std::unexpected(found.error());
  const ContainerPointer& container = *found;
  if ((*request)->resources == nullptr) co_return "";
  const Gate::Pass pass = co_await container->gate.enter();
  if (!is_current(*container, *container->init))
    co_return answer_with(Code::kNotFound, "the task was deleted: not found");
  if (container->init->ended.is_given())
    co_return answer_with(Code::kNotFound, "the task has ended: not found");
  std::vector<std::string> words{"update", "--resources", "-", container->id};
  std::string resources(bytes_of((*request)->resources->value));
  const Result<std::string> done =
      co_await container->runtime.ask(std::move(words), std::move(resources));
  if (!done) co_return answer_with(done.error());
  co_return "";
}

Async<Answer> Tasks::checkpoint(Payload payload) {
  const auto request = Received<Shim__CheckpointRequest>::read(payload);
  if (!request) co_return answer_with(Code::kInvalidArgument, "this is no CheckpointTaskRequest");
  const auto found = find((*request)->id);
  if (!found) co_return std::unexpected(found.error());
  const ContainerPointer& container = *found;
  const Shim__Any* const any = (*request)->options;
  const auto options = Received<Shim__CheckpointOptions>::read(
      any == nullptr ? std::string_view() : bytes_of(any->value));
  if (!options) co_return answer_with(Code::kInvalidArgument, "these are no CheckpointOptions");
  const Shim__CheckpointOptions& chosen = **options;
  const std::string image =
      first_given({chosen.image_path, (*request)->path, container->options.criu_image_path});
  const std::string work = first_given({chosen.work_path, container->criu_work_path()});
  std::vector<std::string> words{"checkpoint", "--image-path", image, "--work-path", work};
  if (chosen.exit == 0) words.emplace_back("--leave-running");
  if (chosen.open_tcp != 0) words.emplace_back("--tcp-established");
  if (chosen.external_unix_sockets != 0) words.emplace_back("--ext-unix-sk");
  if (chosen.terminal != 0) words.emplace_back("--shell-job");
  if (chosen.file_locks != 0) words.emplace_back("--file-locks");
  for (std::size_t i = 0; i < chosen.n_empty_namespaces; ++i)
    words.insert(words.end(), {"--empty-ns", chosen.empty_namespaces[i]});
  if (*chosen.cgroups_mode != '\0')
    words.insert(words.end(), {"--manage-cgroups-mode", chosen.cgroups_mode});
  words.push_back(container->id);
  const Gate::Pass pass = co_await container->gate.enter();
  if (!is_current(*container, *container->init))
    co_return answer_with(Code::kNotFound, "the task was deleted: not found");
  const Result<void> done = co_await container->runtime.run(std::move(words));
  if (!done) co_return answer_with(done.error());
  auto event = new_message<Shim__TaskCheckpointed>();
  event.container_id = in_message(container->id);
  event.checkpoint = in_message(image);
  publisher_.publish("/tasks/checkpointed", "containerd.events.TaskCheckpointed", event);
  co_return "";
}

}  // namespace ocirun::shim
