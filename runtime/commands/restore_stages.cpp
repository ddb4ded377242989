#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "hooks/run_hook.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/checkpoint/restored_processes.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/checkpoint/new_namespaces.hpp"
#include "runtime/commands/restoration.hpp"
#include "runtime/compare/container_namespaces.hpp"
#include "runtime/compare/restored.hpp"
#include "runtime/parent/agent.hpp"
#include "runtime/parent/init_link.hpp"
#include "runtime/parent/net_devices.hpp"
#include "runtime/state/record.hpp"

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
  auto passed = [&]() -> Result<void> {
    if (news.stage == "setup-namespaces") return set_namespaces_up(news.number);
    if (news.stage == "orphan-pts-master") {
      TRY_ASSIGN(terminal_, deliver_terminal(news.terminal, document_.host.console));
    }
    if (news.stage == "pre-resume") {
      auto admitted = admit(news.number);
      if (!admitted) linux::kill_restored(place_->procfs, news.number);
      return admitted;
    }
    return {};
  }();
  if (!passed) has_refused_ = true;
  return passed;
}

// The namespaces are there, and nothing else. Network devices and hooks find them by the pid.
Result<void> Restoration::set_namespaces_up(int pid) {
  TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(pid));
  intent_.record.init_pid = pid;
  intent_.record.init_start_time = stat.start_time;
  TRY(directory_->write_intent(intent_));
  // Also with --trust-images: without new namespaces, the hooks, network devices and sysctls below
  // would change the host's.
  TRY(within(new_namespaces(pid).compare(),
             "the images do not fit config.json, and nothing was restored"));
  // Before hooks and devices are given to a user namespace that maps other ids.
  if (restore_.trust == TrustImages::kNo)
    TRY(explain_difference(compare_id_maps(config(), place_->procfs, pid)));
  // CRIU moves a process only where the images say so, and its children inherit the cgroup of this
  // first one. systemd's scopes: publish().
  if (ignores_cgroups())
    TRY(place_->cgroup->adopt(pid));
  else
    TRY(join_cgroup(join_, pid));
  TRY(join_resctrl(pid));  // before CRIU forks the other processes
  TRY(new_namespaces(pid).set_up());
  if (!config().net_devices.empty()) {
    TRY_ASSIGN(network_namespace_,
               linux::open_namespace(place_->procfs.fd(), pid, linux::NamespaceKind::kNetwork));
    TRY(move_net_devices(*directory_, config().net_devices, network_namespace_, log_));
  }
  TRY(run_hooks(pid));
  return new_namespaces(pid).write_device_sysctls();
}

Result<void> Restoration::run_hooks(int pid) {
  bundle::StateDocument state = document_of(record_);
  state.status = Status::kCreated;
  state.pid = pid;
  const hooks::Surroundings surroundings = on_host(state, request_.bundle, log_);
  hooks_have_begun_ = true;
  directory_->unlock();  // a hook may ask for the container's state
  for (const hooks::Kind kind : {hooks::Kind::kPrestart, hooks::Kind::kCreateRuntime})
    TRY(hooks::run_phase(config().hooks, kind, hooks::failure_rule(kind), surroundings));
  TRY(directory_->lock(kLockPatience));
  if (!directory_->exists()) return refuse("the container was deleted while its hooks ran");
  return {};
}

// All processes are restored. None of them has executed an instruction of its own: CRIU has
// stopped each thread by ptrace at its last system call, the one that loads the restored
// registers. CRIU lets them go when it has the answer to this stage, and a SIGKILL is all that
// reaches them before. So what is compared here is what will run.
Result<void> Restoration::admit(int pid) {
  if (config().root_readonly) TRY(make_root_read_only(place_->procfs, pid));
  TRY_ASSIGN(const std::vector<int> pids, linux::restored_processes(place_->procfs, pid));
  if (restore_.trust == TrustImages::kYes) {
    log_.warn("--trust-images: what was restored is not compared with config.json");
  } else {
    TRY(explain_difference(compare_restored({.config = config(),
                                             .record = record_,
                                             .procfs = place_->procfs,
                                             .pinned = pinned_,
                                             .streams = kStreams,
                                             .images = images_},
                                            pid, pids)));
  }
  TRY(new_namespaces(pid).set_up());  // again: CRIU has put back what it had saved
  return publish(pid, pids);
}

Result<void> Restoration::publish(int pid, const std::vector<int>& pids) {
  // Not before: CRIU moves the processes after the stage setup-namespaces, and systemd removes a
  // scope that is empty meanwhile.
  if (!ignores_cgroups()) TRY(place_->cgroup->adopt(pid));
  record_.init_pid = pid;
  TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(pid));
  record_.init_start_time = stat.start_time;
  TRY_ASSIGN(record_.init_image, linux::image_of(::getpid()));
  TRY_ASSIGN(init_.pidfd, linux::open_pidfd(record_.init()));
  init_.pid = pid;
  // CRIU may fail after this, and does not end processes then. Without a pid namespace the others
  // do not end with init.
  for (const int one : pids) {
    TRY_ASSIGN(const linux::ProcessStat its_stat, linux::read_process_stat(one));
    restored_.push_back({.pid = one, .start_time = its_stat.start_time});
  }
  undo_.add([this] {
    for (const linux::ProcessIdentity& process : restored_)
      static_cast<void>(linux::send_signal(process, SIGKILL));
  });
  TRY(directory_->commit(record_));
  TRY(request_.announcement.tell(init_, undo_));
  is_published_ = true;
  return {};
}

}  // namespace ocirun::runtime
