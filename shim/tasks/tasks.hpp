#pragma once

#include <map>
#include <memory>
#include <string>

#include "shim/events/publisher.hpp"
#include "shim/loop/async.hpp"
#include "shim/loop/children.hpp"
#include "shim/messages/message.hpp"
#include "shim/tasks/process.hpp"
#include "shim/ttrpc/status.hpp"

namespace ocirun::shim {

/// The services containerd.task.v2.Task and v3: the tasks of one shim, and the calls that make and
/// change them. A call that lasts, such as Create, holds up the calls for its own container that
/// change it too, and no other call.
class Tasks {
 public:
  /// Where the shim works: how the paths of its scratch files begin (sockets for terminals, logs of
  /// the runtime), containerd's namespace, and the id of the container that the shim is started
  /// for.
  struct Place {
    std::string scratch_prefix, container_namespace, first_id;
  };

  Tasks(Loop& loop, Children& children, Publisher& publisher, Place place)
      : loop_(loop), children_(children), publisher_(publisher), place_(std::move(place)) {}

  /// Answers one call. Failures have the codes that containerd compares.
  Async<ttrpc::Answer> answer(std::string service, std::string method, std::string payload);
  /// Whether a Create was ever accepted.
  bool had_any() const { return had_any_; }

 private:
  using Payload = std::string;
  using ContainerPointer = std::shared_ptr<Container>;
  using ProcessPointer = std::shared_ptr<Process>;
  struct Target {
    ContainerPointer container;
    ProcessPointer process;
  };
  template <typename T>
  using Found = std::expected<T, ttrpc::Failure>;
  struct Call {
    std::string_view method;
    Async<ttrpc::Answer> (Tasks::*answer)(Payload);
  };
  static const Call kCalls[];

  // making.cpp: from Create to Delete
  Async<ttrpc::Answer> create(Payload payload);
  Async<ttrpc::Answer> start(Payload payload);
  Async<ttrpc::Answer> exec(Payload payload);
  Async<ttrpc::Answer> remove(Payload payload);
  Async<Result<void>> make(ContainerPointer container);
  Async<Result<void>> unmount(ContainerPointer container);
  Async<Result<void>> start_init(ContainerPointer container);
  Async<Result<void>> start_exec(ContainerPointer container, ProcessPointer process);
  Async<Result<void>> open_streams(ContainerPointer container, ProcessPointer process);
  Async<Result<void>> run_process(ContainerPointer container, ProcessPointer process,
                                  std::vector<std::string> words, std::string pid_file);
  Async<> end_streams(ProcessPointer process);

  // changing.cpp
  Async<ttrpc::Answer> kill(Payload payload);
  Async<ttrpc::Answer> pause(Payload payload);
  Async<ttrpc::Answer> resume(Payload payload);
  Async<ttrpc::Answer> update(Payload payload);
  Async<ttrpc::Answer> checkpoint(Payload payload);
  Async<ttrpc::Answer> freeze(Payload payload, bool is_pause);

  // asking.cpp
  Async<ttrpc::Answer> state(Payload payload);
  Async<ttrpc::Answer> pids(Payload payload);
  Async<ttrpc::Answer> wait(Payload payload);
  Async<ttrpc::Answer> stats(Payload payload);
  Async<ttrpc::Answer> connect(Payload payload);
  Async<ttrpc::Answer> resize(Payload payload);
  Async<ttrpc::Answer> close_io(Payload payload);
  Async<ttrpc::Answer> shut_down(Payload payload);
  Async<> stop_later();

  // events.cpp: what containerd is told
  void expect_end(const ContainerPointer& container, const ProcessPointer& process,
                  const Children::Memory& memory);
  static void give_up(Process& process);
  bool is_current(const Container& container, const Process& process) const;
  void take_end(const ContainerPointer& container, const ProcessPointer& process,
                const ProcessEnd& end);
  void announce(const Container& container, Process& process);
  void publish_create(const Container& container, const Shim__CreateRequest& request);
  void publish_start(const Container& container, const Process& process);
  void publish_exit(const Container& container, const Process& process);
  void publish_delete(const Container& container, const Process& process);
  void watch_cgroup(const ContainerPointer& container);
  void stop_watching(Container& container);

  Found<ContainerPointer> find(const std::string& id) const;
  Found<Target> find(const std::string& id, const std::string& exec_id) const;
  Found<Target> find_named(const Payload& payload) const;
  Found<Target> find_created(const Payload& payload) const;
  std::string next_console_path();

  Loop& loop_;
  Children& children_;
  Publisher& publisher_;
  Place place_;
  std::map<std::string, ContainerPointer> containers_;
  unsigned long next_console_ = 0;
  bool had_any_ = false, is_stopping_ = false;
};

}  // namespace ocirun::shim
