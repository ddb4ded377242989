#include "runtime/init/namespaces.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

#include "hooks/run_hook.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/timeline.hpp"
#include "runtime/protocol/hook_times.hpp"
#include "runtime/protocol/protocol.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

using linux::NamespaceKind;

Result<void> die_with_parent(const linux::MessageSocket& parent) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return fail(errno, "set the parent-death signal");
  // If the parent died before prctl(2), the kernel sends no signal. getppid() cannot show the
  // death: in a new pid namespace, getppid() is 0 for a living parent too.
  pollfd end{parent.fd().value, 0, 0};
  if (::poll(&end, 1, 0) == 1 && (end.revents & POLLHUP) != 0)
    return fail(EPIPE, "the runtime died");
  return {};
}

Result<void> become_namespace_root(const bundle::Config& config) {
  // EPERM: the kernel denies setgroups(2) in a user namespace whose map an unprivileged user wrote.
  if (linux::sys::setgroups(0, nullptr) != 0 && errno != EPERM)
    return fail(errno, "clear the groups");
  // EINVAL: the map has no id 0. The caller then takes the ids of the container's process.
  const auto is_unmapped = [&](long done) {
    return done != 0 && errno == EINVAL && config.process;
  };
  long done = linux::sys::setresgid(0);
  if (is_unmapped(done)) done = linux::sys::setresgid(config.process->user.gid.value());
  if (done != 0) return fail(errno, "become a group of the user namespace");
  done = linux::sys::setresuid(0);
  if (is_unmapped(done)) done = linux::sys::setresuid(config.process->user.uid.value());
  if (done != 0) return fail(errno, "become a user of the user namespace");
  ::prctl(PR_SET_DUMPABLE, 0);  // a change of the ids sets the flag if fs.suid_dumpable is 1
  return {};
}

Result<void> map_ids(const InitPlan& plan, const linux::MessageSocket& parent) {
  OCIRUN_TRY(ask(parent, Message::kMapIds));
  if (plan.config.namespaces.creates(NamespaceKind::kUser))
    return become_namespace_root(plan.config);
  return {};
}

Result<void> enter_namespaces(const InitPlan& plan, const linux::MessageSocket& parent) {
  if (plan.config.namespaces.creates(NamespaceKind::kUser)) OCIRUN_TRY(map_ids(plan, parent));
  for (const linux::PinnedNamespace& pinned : plan.pinned) {
    const linux::timeline::Call call("setns", linux::config_name(pinned.kind));
    if (::setns(pinned.fd.get(), static_cast<int>(linux::clone_flag(pinned.kind))) != 0)
      return fail(errno, "join the {} namespace", linux::config_name(pinned.kind));
  }
  return {};
}

Result<void> join_tasks(const cgroups::Cgroup::JoinHandles& cgroup) {
  // Writing "0" to `tasks` moves the calling thread, and this process has only that thread. A write
  // to cgroup.procs would wait for RCU (~10 ms on v1).
  for (const UniqueFd& tasks : cgroup.tasks) {
    const linux::timeline::Call call("write", "tasks");
    if (::write(tasks.get(), "0", 1) != 1) return fail(errno, "join the container's cgroup");
  }
  return {};
}

Result<void> join_cgroups(InitPlan& plan) {
  OCIRUN_TRY(join_tasks(plan.cgroup));
  plan.cgroup = {};
  if (!plan.config.namespaces.creates(NamespaceKind::kCgroup)) return {};
  const linux::timeline::Call call("unshare", "cgroup");
  if (::unshare(CLONE_NEWCGROUP) != 0) return fail(errno, "make the cgroup namespace");
  return {};
}

Result<void> start_session() {
  // EPERM: the caller already leads a process group.
  if (::setsid() < 0 && errno != EPERM) return fail(errno, "start a session");
  return {};
}

Result<void> set_names(const bundle::Config& config) {
  if (!config.hostname.empty() &&
      ::sethostname(config.hostname.data(), config.hostname.size()) != 0)
    return fail(errno, "/hostname: set \"{}\"", config.hostname);
  if (!config.domainname.empty() &&
      ::setdomainname(config.domainname.data(), config.domainname.size()) != 0)
    return fail(errno, "/domainname: set \"{}\"", config.domainname);
  return {};
}

Result<void> run_container_hooks(const InitPlan& plan, hooks::Kind kind,
                                 hooks::Context hook_context,
                                 const std::function<void(std::string_view)>& tell_times) {
  if (plan.config.hooks.of(kind).empty()) return {};
  bundle::StateDocument state = plan.state;
  state.status = Status::kCreated;
  state.pid = ::getpid();  // the pid in the container (H-8)
  hook_context.state = bundle::hook_state(state);
  std::vector<hooks::HookRun> ran;
  hook_context.ran = &ran;
  const mode_t own = ::umask(plan.inheritance.umask);  // hooks get the umask of ocirun's caller
  auto outcome = hooks::run_phase(plan.config.hooks, kind, hooks::failure_rule(kind), hook_context);
  ::umask(own);
  if (outcome) tell_times(hook_times(ran));
  return outcome;
}

Result<void> ask_for_hooks(const InitPlan& plan, const linux::MessageSocket& parent) {
  const hooks::Hooks& all = plan.config.hooks;
  // createContainer hooks count too, although init runs these hooks: on RunHooks, the parent
  // records that hooks have begun (H-11). On RunHooks, the parent also moves the network devices.
  const bool any_hook =
      std::ranges::any_of(std::array{hooks::Kind::kPrestart, hooks::Kind::kCreateRuntime,
                                     hooks::Kind::kCreateContainer},
                          [&](hooks::Kind kind) { return !all.of(kind).empty(); });
  if (!any_hook && plan.config.net_devices.empty()) return {};
  OCIRUN_TRY(ask(parent, Message::kRunHooks));
  return {};
}

void report_lasting_hook(const linux::MessageSocket& parent, std::string_view text) {
  ignore(tell(parent, Message::kHookLasts, text));
}

void report_hooks(const linux::MessageSocket& parent, std::string_view times) {
  ignore(tell(parent, Message::kHooksRan, times));
}

void report_forked(const linux::MessageSocket& parent, int pid) {
  if (!tell(parent, Message::kForked, fmt::format("{}", pid))) ::kill(pid, SIGKILL);
}

Result<void> report_ready(const linux::MessageSocket& parent) {
  OCIRUN_TRY(ask(parent, Message::kReady));
  // The parent exits after Detached. PDEATHSIG would then kill this process.
  if (::prctl(PR_SET_PDEATHSIG, 0) != 0) return fail(errno, "clear the parent-death signal");
  return tell(parent, Message::kDetached);
}

}  // namespace ocirun::runtime
