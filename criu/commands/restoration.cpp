#include "criu/commands/restoration.hpp"

#include <fcntl.h>

#include <array>
#include <csignal>

#include "criu/compare/container_namespaces.hpp"
#include "criu/compare/restored.hpp"
#include "criu/launch/restored_processes.hpp"
#include "criu/request/criu_process.hpp"
#include "hooks/run_hook.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/parent/agent.hpp"
#include "runtime/parent/exit_watcher.hpp"
#include "runtime/parent/init_link.hpp"
#include "runtime/parent/net_devices.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::array kStreams{Fd{STDIN_FILENO}, Fd{STDOUT_FILENO}, Fd{STDERR_FILENO}};

Result<void> explain_difference(Result<void> compared) {
  return within(
      std::move(compared),
      "the images do not fit config.json, and the restored processes were killed (give the "
      "config.json of the checkpoint; --trust-images restores them all the same)");
}

}  // namespace

Result<void> Restoration::pass(linux::CriuNews& news) {
  auto passed = pass_stage(news);
  if (!passed) has_refused_ = true;
  return passed;
}

std::optional<RestoredContainer> Restoration::take() {
  if (restored_) restored_->terminal = std::move(terminal_);
  return std::move(restored_);
}

Result<void> Restoration::pass_stage(linux::CriuNews& news) {
  if (news.stage == "setup-namespaces") return set_namespaces_up(news.number);
  if (news.stage == "orphan-pts-master") {
    OCIRUN_TRY_ASSIGN(terminal_, deliver_terminal(news.terminal, made_.document.host.console));
  }
  if (news.stage != "pre-resume") return {};
  auto admitted = admit(news.number);
  if (!admitted) linux::kill_restored(input_.procfs, news.number);
  return admitted;
}

// Called when CRIU has made only the first process, in its new namespaces. `pid` leads the hooks
// and the moves of network devices to these namespaces.
Result<void> Restoration::set_namespaces_up(int pid) {
  OCIRUN_TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(pid));
  made_.intent.record.init_pid = pid;
  made_.intent.record.init_start_time = stat.start_time;
  OCIRUN_TRY(made_.directory->write_intent(made_.intent));
  // --trust-images does not skip this comparison: if the namespaces were not new, the hooks,
  // network devices and sysctls below would change namespaces of the host.
  OCIRUN_TRY(within(new_namespaces(pid).compare(),
                    "the images do not fit config.json, and nothing was restored"));
  // The images may map other ids than config.json. The id maps are compared before hooks run and
  // before devices move.
  if (input_.trust == TrustImages::kNo)
    OCIRUN_TRY(explain_difference(compare_id_maps(config(), input_.procfs, pid)));
  // The other processes inherit the cgroup of this first process. With `ignores_cgroups`, CRIU
  // moves no process later, so adopt() is called here. Otherwise CRIU moves the processes for which
  // the images name a cgroup, and publish() calls adopt().
  if (input_.ignores_cgroups)
    OCIRUN_TRY(made_.place->cgroup->adopt(pid));
  else
    OCIRUN_TRY(join_cgroup(input_.join, pid));
  OCIRUN_TRY(made_.join_resctrl(pid));  // before CRIU forks the other processes
  OCIRUN_TRY(new_namespaces(pid).set_up());
  OCIRUN_TRY(move_devices(pid));
  OCIRUN_TRY(run_hooks(pid));
  return new_namespaces(pid).write_device_sysctls();
}

Result<void> Restoration::move_devices(int pid) {
  if (config().net_devices.empty()) return {};
  OCIRUN_TRY_ASSIGN(made_.network_namespace,
                    linux::open_namespace(input_.procfs.fd(), pid, linux::NamespaceKind::kNetwork));
  return move_net_devices(*made_.directory, config().net_devices, made_.network_namespace,
                          made_.log);
}

Result<void> Restoration::run_hooks(int pid) {
  bundle::StateDocument state = document_of(made_.record);
  state.status = Status::kCreated;
  state.pid = pid;
  hooks::Context hook_context = on_host(state, made_.request.bundle, made_.log);
  std::vector<hooks::HookRun> ran;
  hook_context.ran = &ran;
  made_.hooks_have_begun = true;
  made_.directory->unlock();  // a hook may ask for the container's state
  for (const hooks::Kind kind : {hooks::Kind::kPrestart, hooks::Kind::kCreateRuntime})
    OCIRUN_TRY(hooks::run_phase(config().hooks, kind, hooks::failure_rule(kind), hook_context));
  OCIRUN_TRY(made_.directory->lock(kLockPatience));
  if (!made_.directory->exists()) return refuse("the container was deleted while its hooks ran");
  record_hooks_run(*made_.directory, ran, made_.log);
  return {};
}

// Called when all processes are restored, before a process executes its own instructions. CRIU has
// stopped each thread by ptrace at rt_sigreturn(2), which loads the restored registers. CRIU
// releases the threads after the answer to this stage. Until then only SIGKILL reaches the threads,
// so the compared state is the state that will run.
Result<void> Restoration::admit(int pid) {
  if (config().root_readonly) OCIRUN_TRY(make_root_read_only(input_.procfs, pid));
  OCIRUN_TRY_ASSIGN(const std::vector<int> pids, linux::restored_processes(input_.procfs, pid));
  if (input_.trust == TrustImages::kYes) {
    made_.log.warn("--trust-images: what was restored is not compared with config.json");
  } else {
    OCIRUN_TRY(explain_difference(compare_restored({.config = config(),
                                                    .record = made_.record,
                                                    .procfs = input_.procfs,
                                                    .pinned = input_.pinned,
                                                    .streams = kStreams,
                                                    .images = input_.images},
                                                   pid, pids)));
  }
  OCIRUN_TRY(new_namespaces(pid).set_up());  // again: CRIU may have replaced names and sysctls
  return publish(pid, pids);
}

Result<void> Restoration::publish(int pid, const std::vector<int>& pids) {
  // adopt() releases the process that keeps a systemd scope alive. At the stage setup-namespaces,
  // adopt() would come too early: CRIU moves processes later, the scope may become empty, and
  // systemd removes an empty scope.
  if (!input_.ignores_cgroups) OCIRUN_TRY(made_.place->cgroup->adopt(pid));
  made_.record.init_pid = pid;
  OCIRUN_TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(pid));
  made_.record.init_start_time = stat.start_time;
  OCIRUN_TRY_ASSIGN(made_.record.init_image, linux::own_image());
  linux::Child init;
  OCIRUN_TRY_ASSIGN(init.pidfd, linux::open_pidfd(made_.record.init()));
  init.pid = pid;
  // CRIU may still fail after this stage, and then does not kill the restored processes. The undo
  // step kills each process, because without a pid namespace the death of init ends only init.
  std::vector<linux::ProcessIdentity> restored;
  for (const int one : pids) {
    OCIRUN_TRY_ASSIGN(const linux::ProcessIdentity process, linux::identify_process(one));
    restored.push_back(process);
  }
  made_.undo.add([restored = std::move(restored)] {
    for (const linux::ProcessIdentity& process : restored)
      ignore(linux::send_signal(process, SIGKILL));
  });
  OCIRUN_TRY(made_.directory->commit(made_.record));
  OCIRUN_TRY(record_start(*made_.directory, made_.record, linux::rfc3339_now(9)));
  OCIRUN_TRY(spawn_exit_watcher(*made_.directory, made_.record));
  OCIRUN_TRY(made_.request.announcement.tell(init, made_.undo));
  restored_ = RestoredContainer{.init = std::move(init), .terminal = {}};
  return {};
}

}  // namespace ocirun::runtime
