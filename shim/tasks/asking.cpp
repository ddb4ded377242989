// Calls that ask: State, Pids, Wait, Stats, Connect; and those that change no container: ResizePty,
// CloseIO, Shutdown.

#include <unistd.h>

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"
#include "shim/tasks/tasks.hpp"

namespace ocirun::shim {

using ttrpc::Answer;
using ttrpc::answer_with;
using ttrpc::Code;

namespace {

// How long events may wait for a containerd that is away when the shim ends.
constexpr std::chrono::seconds kEventPatience{10};

/// The pids in the text of `ps --format json`. Numbers that are no pids are left out.
std::vector<std::uint32_t> parse_pids(std::string_view text) {
  std::vector<std::uint32_t> pids;
  bundle::Document document;
  bundle::Report report;
  if (!document.parse(text, report) || !document.root()->is_array()) return pids;
  for (const bundle::Node* node = document.root()->first; node != nullptr; node = node->next)
    if (node->kind == bundle::Node::Kind::kNatural)
      pids.push_back(static_cast<std::uint32_t>(node->number));
  return pids;
}

}  // namespace

Async<Answer> Tasks::state(Payload payload) {
  const auto target = find_created(payload);
  if (!target) co_return std::unexpected(target.error());
  const Process& process = *target->process;
  Shim__Timestamp exited = timestamp_of(process.end.at);
  auto response = new_message<Shim__StateResponse>();
  response.id = in_message(target->container->id);
  response.bundle = in_message(target->container->bundle);
  response.pid = static_cast<std::uint32_t>(process.pid);
  response.status = static_cast<std::uint32_t>(process.state);
  response.in = in_message(process.names.in);
  response.out = in_message(process.names.out);
  response.err = in_message(process.names.err);
  response.terminal = process.names.terminal ? 1 : 0;
  if (process.ended.is_given()) {
    response.exit_status = process.end.exit_code();
    response.exited_at = &exited;
  }
  response.exec_id = in_message(process.exec_id);
  co_return bytes_of(response);
}

Async<Answer> Tasks::pids(Payload payload) {
  const auto target = find_created(payload);
  if (!target) co_return std::unexpected(target.error());
  const ContainerPointer& container = target->container;
  // containerd takes a task without processes for a leak, and loses the exit status of its init.
  std::vector<std::uint32_t> all{static_cast<std::uint32_t>(container->init->pid)};
  if (!container->init->ended.is_given() && container->init->pid != 0) {
    std::vector<std::string> words{"ps", "--format", "json", container->id};
    const Result<std::string> listed = co_await container->runtime.ask(std::move(words));
    if (!listed && !container->init->ended.is_given()) co_return answer_with(listed.error());
    if (listed) all = parse_pids(*listed);
  }
  std::vector<Shim__ProcessInfo> infos(all.size(), new_message<Shim__ProcessInfo>());
  std::vector<std::string> details(all.size());
  std::vector<Shim__Any> anys(all.size(), new_message<Shim__Any>());
  std::vector<Shim__ProcessInfo*> pointers;
  std::string type = "containerd.runc.v1.ProcessDetails";
  for (std::size_t i = 0; i < all.size(); ++i) {
    infos[i].pid = all[i];
    pointers.push_back(&infos[i]);
    for (const auto& [exec_id, process] : container->execs) {
      if (static_cast<std::uint32_t>(process->pid) != all[i]) continue;
      auto detail = new_message<Shim__ProcessDetails>();
      detail.exec_id = in_message(exec_id);
      details[i] = bytes_of(detail);
      anys[i].type_url = in_message(type);
      anys[i].value = data_in_message(details[i]);
      infos[i].info = &anys[i];
    }
  }
  auto response = new_message<Shim__PidsResponse>();
  response.n_processes = pointers.size();
  response.processes = pointers.data();
  co_return bytes_of(response);
}

Async<Answer> Tasks::wait(Payload payload) {
  const auto target = find_created(payload);
  if (!target) co_return std::unexpected(target.error());
  const ProcessPointer process = target->process;
  co_await process->ended;
  Shim__Timestamp exited = timestamp_of(process->end.at);
  auto response = new_message<Shim__WaitResponse>();
  response.exit_status = process->end.exit_code();
  response.exited_at = &exited;
  co_return bytes_of(response);
}

Async<Answer> Tasks::stats(Payload payload) {
  const auto target = find_created(payload);
  if (!target) co_return std::unexpected(target.error());
  const Container& container = *target->container;
  if (!container.cgroup || container.init->ended.is_given())
    co_return answer_with(Code::kNotFound, "the task does not run: not found");
  const auto metrics = container.cgroup->metrics();
  if (!metrics) co_return answer_with(metrics.error());
  auto any = new_message<Shim__Any>();
  any.type_url = in_message(metrics->type_url);
  any.value = data_in_message(metrics->value);
  auto response = new_message<Shim__StatsResponse>();
  response.stats = &any;
  co_return bytes_of(response);
}

// A containerd that was started anew asks this first, and takes an error for the end of the server.
Async<Answer> Tasks::connect(Payload payload) {
  const auto target = find_named(payload);
  if (!target) co_return std::unexpected(target.error());
  auto response = new_message<Shim__ConnectResponse>();
  response.shim_pid = static_cast<std::uint32_t>(::getpid());
  response.task_pid = static_cast<std::uint32_t>(target->container->init->pid);
  co_return bytes_of(response);
}

Async<Answer> Tasks::resize(Payload payload) {
  const auto request = Received<Shim__ResizeRequest>::read(payload);
  if (!request) co_return answer_with(Code::kInvalidArgument, "this is no ResizePtyRequest");
  const auto target = find((*request)->id, (*request)->exec_id);
  if (!target) co_return std::unexpected(target.error());
  if (!target->process->streams) co_return "";  // ended, or not started: nothing shows the size
  const auto resized = target->process->streams->resize((*request)->width, (*request)->height);
  if (!resized) co_return answer_with(Code::kFailedPrecondition, "{}", resized.error().message());
  co_return "";
}

Async<Answer> Tasks::close_io(Payload payload) {
  const auto request = Received<Shim__CloseRequest>::read(payload);
  if (!request) co_return answer_with(Code::kInvalidArgument, "this is no CloseIORequest");
  const auto target = find((*request)->id, (*request)->exec_id);
  if (!target) co_return std::unexpected(target.error());
  if ((*request)->in == 0) co_return "";
  target->process->is_input_closed = true;
  if (target->process->streams) target->process->streams->close_stdin();
  co_return "";
}

// A shim that waits for its first task ends for nobody but the caller of that task: the `delete` of
// another container of the pod may come late, and mean an earlier server.
Async<Answer> Tasks::shut_down(Payload payload) {
  const auto request = Received<Shim__ShutdownRequest>::read(payload);
  if (!request) co_return answer_with(Code::kInvalidArgument, "this is no ShutdownRequest");
  const bool is_meant = had_any_ || (*request)->id == place_.first_id;
  if (is_meant && containers_.empty() && !std::exchange(is_stopping_, true)) go(stop_later());
  co_return "";
}

/// Ends the shim after the answer and the events have been sent, if no task has come meanwhile.
Async<> Tasks::stop_later() {
  const auto until = Loop::Clock::now() + kEventPatience;
  co_await Pause{loop_, std::chrono::milliseconds(1)};
  while (!publisher_.is_idle() && Loop::Clock::now() < until)
    co_await Pause{loop_, std::chrono::milliseconds(2)};
  is_stopping_ = false;
  if (containers_.empty()) loop_.stop();
}

}  // namespace ocirun::shim
