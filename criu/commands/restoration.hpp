#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cgroups/container/cgroup.hpp"
#include "criu/dump/images.hpp"
#include "criu/launch/criu_program.hpp"
#include "criu/request/new_namespaces.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/clone.hpp"
#include "runtime/commands/making.hpp"

namespace ocirun::runtime {

/// The input of the stages of a restore, in addition to Making, which `create` has too.
struct StagesInput {
  const linux::Procfs& procfs;
  const Images& images;
  TrustImages trust;
  const std::vector<linux::PinnedNamespace>& pinned;  // which the container joins
  const cgroups::Cgroup::JoinHandles& join;
  bool ignores_cgroups;  // CRIU moves no process into a cgroup
};

/// A restored container whose record is committed.
struct RestoredContainer {
  linux::Child init;
  UniqueFd terminal;  // the master, for TerminalKeeper::kCaller
};

/// What happens while CRIU waits at its stages: namespaces are set up, hooks run, the processes are
/// compared with config.json, the record is committed.
class Restoration {
 public:
  Restoration(Making& made, const StagesInput& input) : made_(made), input_(input) {}

  /// Called at each stage, in the order of CRIU. After an error of the stage pre-resume, all
  /// restored processes are killed.
  Result<void> pass(linux::CriuNews& news);
  /// Whether a stage had an error: the reason is ocirun's, and not in CRIU's log.
  bool has_refused() const { return has_refused_; }
  /// The container; nothing before the stage pre-resume has passed.
  std::optional<RestoredContainer> take();

 private:
  const bundle::Config& config() const { return made_.document.config; }
  NewNamespaces new_namespaces(int init) const {
    return {.config = config(), .procfs = input_.procfs, .init = init, .joined = input_.pinned};
  }
  Result<void> pass_stage(linux::CriuNews& news);
  Result<void> set_namespaces_up(int pid);
  Result<void> move_devices(int pid);
  Result<void> run_hooks(int pid);
  Result<void> admit(int pid);
  Result<void> publish(int pid, const std::vector<int>& pids);

  Making& made_;
  StagesInput input_;
  UniqueFd terminal_;
  std::optional<RestoredContainer> restored_;
  bool has_refused_ = false;
};

}  // namespace ocirun::runtime
