#include "runtime/init/init.hpp"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "linux/base/memory_reserve.hpp"
#include "linux/base/timeline.hpp"
#include "linux/namespaces/sysctl.hpp"
#include "linux/network/interfaces.hpp"
#include "linux/process/exec.hpp"
#include "linux/process/lsm.hpp"
#include "runtime/init/namespaces.hpp"
#include "runtime/init/process.hpp"
#include "runtime/init/rootfs.hpp"
#include "runtime/protocol/protocol.hpp"
#include "runtime/protocol/start_gate.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kInitFailed = 1;
// The environment of createContainer hooks without `env` (H-4). The hooks cannot inherit the
// environment of init: CommandLine::forget() has erased that environment.
constexpr char kHostPath[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

void keep_only_own_descriptors(const InitPlan& plan, const linux::MessageSocket& parent) {
  std::vector<Fd> keep = plan.inheritance.descriptor_list();
  keep.push_back(parent.fd());
  keep.push_back(plan.start_socket);
  for (const UniqueFd& tasks : plan.cgroup.tasks) keep.push_back(tasks);
  for (const linux::PinnedNamespace& pinned : plan.pinned) keep.push_back(pinned.fd);
  if (plan.root_namespace) keep.push_back(plan.root_namespace);
  linux::close_descriptors_but(keep);
}

Result<void> write_sysctls(const bundle::Config& config, linux::SysctlsOf wanted) {
  return linux::write_sysctls(linux::select_sysctls(config.sysctls, wanted));
}

// The kernel discards a signal to the first process of a pid namespace if the process has no
// handler for the signal. Without these handlers, only SIGKILL would end a created container.
// execve(2) removes the handlers.
void end_on_termination_signals() {
  struct sigaction action{};
  action.sa_handler = [](int signal) { ::_exit(128 + signal); };
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::sigaction(signal, &action, nullptr);
}

// The steps of init in their order. The comment of a step gives the reason for its place.
Result<void> run_init(InitPlan& plan, linux::MessageSocket& parent) {
  const bundle::Config& config = plan.config;
  const bool staged = needs_stage(config);

  // Into the isolation.
  ::umask(0);                               // files get exactly the modes of config.json
  keep_only_own_descriptors(plan, parent);  // init must not hold the parent's locks and directories
  if (staged) OCIRUN_TRY(await_go(parent));  // now the parent knows the pid of init
  OCIRUN_TRY(die_with_parent(parent));       // until report_ready() clears the setting
  if (!staged) OCIRUN_TRY(enter_namespaces(plan, parent));  // the later steps need mapped ids
  ::prctl(PR_SET_DUMPABLE, 0);     // the parent has already written the id maps in /proc/PID
  OCIRUN_TRY(join_cgroups(plan));  // these cgroups become the roots of the new cgroup namespace
  plan.pinned.clear();             // no later step may join a namespace
  OCIRUN_TRY(start_session());     // engines signal the process group, also without a terminal
  plan.step.enter(InitStep::kNames);
  OCIRUN_TRY(set_names(config));
  if (config.namespaces.creates(linux::NamespaceKind::kNetwork))
    OCIRUN_TRY(linux::bring_loopback_up());
  OCIRUN_TRY(write_sysctls(config, linux::SysctlsOf::kTheRest));  // before any container mount

  // The file system.
  plan.step.enter(InitStep::kRoot);
  OCIRUN_TRY_ASSIGN(
      RootfsBuild rootfs,
      build_rootfs(plan, parent));  // with mounts, devices, and the procfs of later steps
  plan.root_namespace.reset();
  plan.step.enter(InitStep::kHostHooks);
  OCIRUN_TRY(
      ask_for_hooks(plan, parent));  // prestart, createRuntime: after all mounts, before the pivot
  plan.step.enter(InitStep::kSysctls);
  OCIRUN_TRY(
      write_sysctls(config, linux::SysctlsOf::kInterfaces));  // a hook may have made interfaces
  plan.step.enter(InitStep::kContainerHooks);
  OCIRUN_TRY(run_container_hooks(
      plan, hooks::Kind::kCreateContainer,      // a hook's absolute path starts in the host's root,
      {.directory_itself = rootfs.directory(),  // its relative path in the rootfs
       .default_env = std::vector<std::string>{kHostPath},
       .warn = [&](auto text) { report_lasting_hook(parent, text); }},
      [&](auto times) { report_hooks(parent, times); }));
  plan.step.enter(InitStep::kTerminal);
  OCIRUN_TRY(
      rootfs.open_terminal(config, parent));  // verifies the devpts, which hooks may have changed
  plan.step.enter(InitStep::kReadOnly);
  OCIRUN_TRY(rootfs.finish_mounts());  // a read-only /dev was writable until now
  plan.step.enter(InitStep::kChangeRoot);
  OCIRUN_TRY(rootfs.change_root(plan));
  plan.step.enter(InitStep::kMasks);
  OCIRUN_TRY(rootfs.restrict_paths(plan));  // after the pivot: "/" is the root of the container

  // The process.
  plan.step.enter(InitStep::kAsInConversation);
  OCIRUN_TRY_ASSIGN(std::optional<linux::SeccompFilter> filter, receive_filter(config, parent));
  ContainerProcess process(config, config.process ? &*config.process : nullptr, Entrance::kInit,
                           plan.inheritance, std::move(filter));
  // This call comes before the handlers below, which it would remove. It reads the open procfs.
  linux::reset_signals(rootfs.procfs().read_value("self/status").value_or(""));
  if (process.exists()) {
    linux::ProcfsOnDemand procfs(rootfs.procfs());
    if (plan.new_keyring) OCIRUN_TRY(join_keyring(*config.process, procfs));
    OCIRUN_TRY(process.set_attributes(procfs));  // before the filter and the loss of privileges
  }
  end_on_termination_signals();  // before the filter, which might refuse sigaction
  rootfs.close();                // a created container waits without directory descriptors
  if (process.exists()) OCIRUN_TRY(process.restrict(parent));  // limits, filter, user, capabilities

  // The hand-over.
  linux::timeline::step("wait for start");
  OCIRUN_TRY(report_ready(parent));  // returns after the state is committed and PDEATHSIG cleared
  parent.close();  // a created container keeps only its start socket and inherited descriptors
  StartGate gate(std::move(plan.start_socket), process.send_by());
  OCIRUN_TRY(gate.wait());
  linux::timeline::step("execute the program");
  auto started = [&]() -> Result<void> {
    if (!process.exists())
      return refuse("/process: must be given in config.json to start a container");
    OCIRUN_TRY(run_container_hooks(plan, hooks::Kind::kStartContainer,
                                   {.directory = HostPath("/"),
                                    .default_env = process.environment(),
                                    .warn = [&](auto text) { gate.report_lasting_hook(text); },
                                    .confine = [&] { return process.load_late_filter(); },
                                    .place = process.place()},
                                   [&](auto times) { gate.report_hooks(times); }));
    gate.announce_exec();
    return process.execute();  // returns only with an error
  }();
  gate.refuse(started.error());
  ::_exit(kInitFailed);
}

}  // namespace

void init_main(InitPlan& plan, linux::MessageSocket parent) noexcept {
  ::prctl(PR_SET_NAME, "ocirun:init");
  plan.inheritance.command_line.forget();
  linux::timeline::name_lane("init");
  linux::timeline::step("enter the namespaces and cgroups");
  const Result<void> outcome = linux::within_memory([&] { return run_init(plan, parent); });
  if (!outcome) ignore(tell(parent, Message::kFailed, error_bytes(outcome.error())));
  ::_exit(kInitFailed);
}

}  // namespace ocirun::runtime
