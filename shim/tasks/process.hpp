#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cgroups/container/oom_watch.hpp"
#include "shim/loop/children.hpp"
#include "shim/loop/loop.hpp"
#include "shim/metrics/process_cgroup.hpp"
#include "shim/options/runtime_options.hpp"
#include "shim/streams/streams.hpp"
#include "shim/tasks/runtime.hpp"

namespace ocirun::shim {

/// The states of containerd.v1.types.Status.
enum class TaskState : std::uint8_t { kCreated = 1, kRunning = 2, kStopped = 3, kPaused = 4 };

/// One process of a container: its init, or a process that Exec has added.
struct Process {
  explicit Process(Loop& loop) : ended(loop) {}

  std::string exec_id;  // "" for init
  std::string spec;     // of an exec: the process of the runtime-spec, as JSON
  StreamNames names;
  std::shared_ptr<Streams> streams;
  int pid = 0;  // 0: the runtime has not made it yet
  TaskState state = TaskState::kCreated;
  bool is_input_closed = false;  // CloseIO has come
  bool is_announced = false;     // containerd was told of its start, and may be told of its end
  ProcessEnd end;                // if `ended` is given
  Notice ended;
};

/// One task: a container with its processes.
struct Container {
  Container(Loop& loop, Runtime made_with)
      : runtime(std::move(made_with)), init(std::make_shared<Process>(loop)), gate(loop) {}

  std::string rootfs() const { return bundle + "/rootfs"; }
  /// Where CRIU keeps its files while it works, unless a request says so.
  std::string criu_work_path() const {
    return options.criu_work_path.empty() ? bundle + "/work" : options.criu_work_path;
  }

  std::string id, bundle, checkpoint;
  Runtime runtime;
  RuntimeOptions options;
  bool has_mounts = false;    // the shim mounts the root filesystem, from mounts of containerd
  bool has_own_pids = true;   // the kernel ends all processes when init ends
  bool is_created = false;    // Create has succeeded
  bool is_made_here = false;  // the runtime knew no container of this id before Create
  std::shared_ptr<Process> init;
  std::map<std::string, std::shared_ptr<Process>> execs;
  std::optional<ProcessCgroup> cgroup;
  std::optional<cgroups::OomWatch> oom;
  Gate gate;  // of the calls that change the container
};

}  // namespace ocirun::shim
