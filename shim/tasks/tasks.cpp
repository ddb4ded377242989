#include "shim/tasks/tasks.hpp"

#include <algorithm>

namespace ocirun::shim {

using ttrpc::Answer;
using ttrpc::answer_with;
using ttrpc::Code;

constexpr Tasks::Call Tasks::kCalls[] = {
    {"Create", &Tasks::create},      {"Start", &Tasks::start},
    {"Exec", &Tasks::exec},          {"Delete", &Tasks::remove},
    {"Kill", &Tasks::kill},          {"Pause", &Tasks::pause},
    {"Resume", &Tasks::resume},      {"Update", &Tasks::update},
    {"State", &Tasks::state},        {"Checkpoint", &Tasks::checkpoint},
    {"Pids", &Tasks::pids},          {"Wait", &Tasks::wait},
    {"Stats", &Tasks::stats},        {"Connect", &Tasks::connect},
    {"CloseIO", &Tasks::close_io},   {"ResizePty", &Tasks::resize},
    {"Shutdown", &Tasks::shut_down},
};

Async<Answer> Tasks::answer(std::string service, std::string method, std::string payload) {
  if (service != "containerd.task.v2.Task" && service != "containerd.task.v3.Task")
    co_return answer_with(Code::kUnimplemented, "service {}", service);
  const auto call = std::ranges::find(kCalls, method, &Call::method);
  if (call == std::end(kCalls)) co_return answer_with(Code::kUnimplemented, "method {}", method);
  Answer given = co_await (this->*call->answer)(std::move(payload));
  co_return given;
}

Tasks::Found<Tasks::ContainerPointer> Tasks::find(const std::string& id) const {
  const auto found = containers_.find(id);
  if (found == containers_.end())
    return answer_with(Code::kNotFound, "the shim has no task {}: not found", id);
  return found->second;
}

Tasks::Found<Tasks::Target> Tasks::find(const std::string& id, const std::string& exec_id) const {
  auto container = find(id);
  if (!container) return std::unexpected(container.error());
  if (exec_id.empty()) return Target{*container, (*container)->init};
  const auto exec = (*container)->execs.find(exec_id);
  if (exec == (*container)->execs.end())
    return answer_with(Code::kNotFound, "the task {} has no process {}: not found", id, exec_id);
  return Target{*container, exec->second};
}

/// The process, or the init of the container, that a request without other members names.
Tasks::Found<Tasks::Target> Tasks::find_named(const Payload& payload) const {
  const auto request = Received<Shim__ProcessRequest>::read(payload);
  if (!request)
    return answer_with(Code::kInvalidArgument, "this is no request about a task or a process");
  return find((*request)->id, (*request)->exec_id);
}

/// As find_named(). A task is found when Create has succeeded: before, its pid is not known, and
/// who asks for the pid once, as the kubelet does, would never get it.
Tasks::Found<Tasks::Target> Tasks::find_created(const Payload& payload) const {
  auto target = find_named(payload);
  if (target && !target->container->is_created)
    return answer_with(Code::kNotFound, "the task {} is not created yet: not found",
                       target->container->id);
  return target;
}

/// Whether the shim still has the process: the process may have been deleted while a call waited
/// for the gate of the container, and another process may have its id.
bool Tasks::is_current(const Container& container, const Process& process) const {
  const auto found = find(container.id, process.exec_id);
  return found && found->container.get() == &container && found->process.get() == &process;
}

std::string Tasks::next_console_path() {
  return fmt::format("{}{}", place_.scratch_prefix, next_console_++);
}

}  // namespace ocirun::shim
