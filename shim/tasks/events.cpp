// What containerd is told about tasks, and the ends of their processes.

#include <ctime>

#include "shim/tasks/tasks.hpp"

namespace ocirun::shim {
namespace {

std::uint32_t pid_of(const Process& process) { return static_cast<std::uint32_t>(process.pid); }

}  // namespace

void Tasks::expect_end(const ContainerPointer& container, const ProcessPointer& process,
                       const Children::Memory& memory) {
  children_.expect(process->pid, memory, [this, container, process](const ProcessEnd& end) {
    take_end(container, process, end);
  });
}

/// Answers those who wait for a process that never ran.
void Tasks::give_up(Process& process) {
  if (process.ended.is_given()) return;
  constexpr int kNoStatus = 255;
  process.end.status = kNoStatus << 8;
  ::clock_gettime(CLOCK_REALTIME, &process.end.at);
  process.state = TaskState::kStopped;
  process.ended.give();
}

void Tasks::take_end(const ContainerPointer& container, const ProcessPointer& process,
                     const ProcessEnd& end) {
  process->end = end;
  process->state = TaskState::kStopped;
  if (process == container->init) {
    stop_watching(*container);
    // Without a pid namespace of its own, the other processes of the container go on.
    if (!container->has_own_pids)
      go([](ContainerPointer dead) -> Async<> {
        std::vector<std::string> words{"kill", "--all", dead->id, "KILL"};
        ignore(co_await dead->runtime.run(std::move(words)));
      }(container));
  }
  if (process->is_announced) publish_exit(*container, *process);
  process->ended.give();
}

/// The start of a process is told before its end, also if the process has ended already.
void Tasks::announce(const Container& container, Process& process) {
  process.is_announced = true;
  if (process.state == TaskState::kCreated) process.state = TaskState::kRunning;
  publish_start(container, process);
  if (process.ended.is_given()) publish_exit(container, process);
}

void Tasks::publish_create(const Container& container, const Shim__CreateRequest& request) {
  auto io = new_message<Shim__TaskIO>();
  io.in = request.in;
  io.out = request.out;
  io.err = request.err;
  io.terminal = request.terminal;
  auto event = new_message<Shim__TaskCreate>();
  event.container_id = request.id;
  event.bundle = request.bundle;
  event.n_rootfs = request.n_rootfs;
  event.rootfs = request.rootfs;
  event.io = &io;
  event.checkpoint = request.checkpoint;
  event.pid = pid_of(*container.init);
  publisher_.publish("/tasks/create", "containerd.events.TaskCreate", event);
}

void Tasks::publish_start(const Container& container, const Process& process) {
  if (process.exec_id.empty()) {
    auto event = new_message<Shim__TaskStart>();
    event.container_id = in_message(container.id);
    event.pid = pid_of(process);
    return publisher_.publish("/tasks/start", "containerd.events.TaskStart", event);
  }
  auto event = new_message<Shim__TaskExecStarted>();
  event.container_id = in_message(container.id);
  event.exec_id = in_message(process.exec_id);
  event.pid = pid_of(process);
  publisher_.publish("/tasks/exec-started", "containerd.events.TaskExecStarted", event);
}

void Tasks::publish_exit(const Container& container, const Process& process) {
  Shim__Timestamp exited = timestamp_of(process.end.at);
  auto event = new_message<Shim__TaskExit>();
  event.container_id = in_message(container.id);
  // The id of the container stands for init, unlike in the event of publish_delete().
  event.id = in_message(process.exec_id.empty() ? container.id : process.exec_id);
  event.pid = pid_of(process);
  event.exit_status = process.end.exit_code();
  event.exited_at = &exited;
  publisher_.publish("/tasks/exit", "containerd.events.TaskExit", event);
}

/// Tells that a task was deleted, or a process that Exec has added: containerd's description of
/// shims wants the event for both.
void Tasks::publish_delete(const Container& container, const Process& process) {
  Shim__Timestamp exited = timestamp_of(process.end.at);
  auto event = new_message<Shim__TaskDelete>();
  event.container_id = in_message(container.id);
  event.id = in_message(process.exec_id);
  event.pid = pid_of(process);
  event.exit_status = process.end.exit_code();
  event.exited_at = &exited;
  publisher_.publish("/tasks/delete", "containerd.events.TaskDelete", event);
}

/// Finds the cgroup while init waits for Start: a program such as systemd moves itself into another
/// one later.
void Tasks::watch_cgroup(const ContainerPointer& container) {
  auto found = ProcessCgroup::of(container->init->pid);
  if (!found) return;  // init has ended: there is nothing to measure
  container->cgroup.emplace(*std::move(found));
  auto oom = cgroups::OomWatch::open(container->cgroup->nodes());
  if (!oom) return;  // a host without the memory controller tells nothing
  container->oom.emplace(*std::move(oom));
  const std::weak_ptr<Container> weak = container;
  const auto watched =
      loop_.watch(container->oom->fd(), static_cast<std::uint32_t>(container->oom->poll_events()),
                  [this, weak](std::uint32_t) {
                    const ContainerPointer alive = weak.lock();
                    if (!alive || !alive->oom || !alive->oom->happened()) return;
                    auto event = new_message<Shim__TaskOOM>();
                    event.container_id = in_message(alive->id);
                    publisher_.publish("/tasks/oom", "containerd.events.TaskOOM", event);
                  });
  if (!watched) container->oom.reset();
}

/// Tells of a last lack of memory, which may have ended init.
void Tasks::stop_watching(Container& container) {
  if (!container.oom) return;
  if (container.oom->happened()) {
    auto event = new_message<Shim__TaskOOM>();
    event.container_id = in_message(container.id);
    publisher_.publish("/tasks/oom", "containerd.events.TaskOOM", event);
  }
  loop_.forget(container.oom->fd());
  container.oom.reset();
}

}  // namespace ocirun::shim
