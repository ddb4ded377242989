#include "runtime/init/init.hpp"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "linux/base/memory_reserve.hpp"
#include "linux/network/netlink.hpp"
#include "linux/process/exec.hpp"
#include "linux/process/keyring.hpp"
#include "linux/process/lsm.hpp"
#include "runtime/init/namespaces.hpp"
#include "runtime/init/process.hpp"
#include "runtime/init/rootfs.hpp"
#include "runtime/protocol/protocol.hpp"
#include "runtime/protocol/start_gate.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kInitFailed = 1;

void keep_only_own_descriptors(const InitPlan& plan, const linux::MessageSocket& parent) {
  std::vector<Fd> keep = plan.inheritance.descriptor_list();
  keep.push_back(parent.fd());
  keep.push_back(plan.start_socket);
  for (const UniqueFd& tasks : plan.cgroup.tasks) keep.push_back(tasks);
  for (const linux::PinnedNamespace& pinned : plan.pinned) keep.push_back(pinned.fd);
  linux::close_descriptors_but(keep);
}

// The kernel keeps a signal from the first process of a pid namespace unless that process has a
// handler: without these, only SIGKILL would end a created container. execve takes them away.
void end_on_termination_signals() {
  struct sigaction action{};
  action.sa_handler = [](int signal) { ::_exit(128 + signal); };
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::sigaction(signal, &action, nullptr);
}

// The order of everything. One line a step; where a step could stand elsewhere, its reason says why
// it does not.
Result<void> run_init(InitPlan& plan, linux::MessageSocket& parent) {
  const bundle::Config& config = plan.config;
  const bool staged = needs_stage(config);

  // Into the isolation.
  ::umask(0);                               // modes are what config.json says
  keep_only_own_descriptors(plan, parent);  // else init would keep the parent's lock
  if (staged) TRY(await_go(parent));        // the parent knows our pid by now
  TRY(die_with_parent(parent));             // until the state is committed
  if (!staged) TRY(enter_namespaces(plan, parent));  // id maps first: all else wants those ids
  ::prctl(PR_SET_DUMPABLE, 0);  // the id maps are written: no process of our uid may trace us
  TRY(join_cgroups(plan));      // before the cgroup namespace, or it is rooted at the host's
  plan.pinned.clear();          // the host's namespaces stay out of reach from here on
  TRY(start_session());         // engines signal the process group, terminal or not
  plan.step.enter(InitStep::kNames);
  TRY(set_names(config));
  if (config.namespaces.creates(linux::NamespaceKind::kNetwork)) TRY(linux::bring_loopback_up());
  TRY(write_early_sysctls(config));  // nothing of the container's is mounted yet

  // The file system.
  plan.step.enter(InitStep::kRoot);
  TRY_ASSIGN(RootfsBuild rootfs, begin_rootfs(plan, parent));  // our own root mount, our own procfs
  TRY(rootfs.attach_mounts(plan, parent));
  plan.step.enter(InitStep::kDevices);
  TRY(rootfs.make_devices(config));  // needs the /dev that a mount above may have brought
  plan.step.enter(InitStep::kHostHooks);
  TRY(ask_for_hooks(plan, parent));  // prestart, createRuntime: all is mounted, nothing pivoted
  plan.step.enter(InitStep::kSysctls);
  TRY(write_late_sysctls(config));  // of network interfaces, which a hook may have brought
  plan.step.enter(InitStep::kContainerHooks);
  TRY(run_container_hooks(
      plan, hooks::Kind::kCreateContainer,      // paths are the host's still,
      {.directory_itself = rootfs.directory(),  // but a relative one must not reach the host
       .warn = [&](auto text) { report_lasting_hook(parent, text); }}));
  plan.step.enter(InitStep::kTerminal);
  TRY(rootfs.open_terminal(config, parent));  // what the hooks did to /dev is verified here
  plan.step.enter(InitStep::kReadOnly);
  TRY(rootfs.finish_mounts());  // read-only at last, where we had to write
  plan.step.enter(InitStep::kChangeRoot);
  TRY(rootfs.change_root(plan));
  plan.step.enter(InitStep::kMasks);
  TRY(rootfs.restrict_paths(plan));  // after the pivot, so that "/" is the container's

  // The process.
  plan.step.enter(InitStep::kAsInConversation);
  TRY_ASSIGN(std::optional<linux::SeccompFilter> filter, receive_filter(config, parent));
  ContainerProcess process(config, config.process ? &*config.process : nullptr, Entrance::kInit,
                           plan.inheritance, std::move(filter));
  if (process.exists()) {
    if (plan.new_keyring) TRY(join_keyring(*config.process, rootfs.procfs()));
    TRY(process.set_attributes(rootfs.procfs()));  // scheduler, labels: as root, with no filter
    end_on_termination_signals();   // until the program decides; a filter might refuse it later
    rootfs.close();                 // no descriptor of a directory waits in a created container
    TRY(process.restrict(parent));  // limits, filter, user, sets
  } else {
    linux::reset_signals();
    end_on_termination_signals();
    rootfs.close();
  }

  // The hand-over.
  TRY(report_ready(parent));  // returns when the state is committed and PDEATHSIG cleared
  parent.close();             // a created container holds its start socket and nothing else of ours
  StartGate gate(std::move(plan.start_socket));
  TRY(gate.wait());
  auto started = [&]() -> Result<void> {
    if (!process.exists())
      return refuse("/process: must be given in config.json to start a container");
    TRY(run_container_hooks(plan, hooks::Kind::kStartContainer,
                            {.directory = HostPath("/"),
                             .default_env = process.environment(),
                             .warn = [&](auto text) { gate.report_lasting_hook(text); },
                             .confine = [&] { return process.load_late_filter(); },
                             .place = process.place()}));
    gate.announce_exec();
    return process.execute();  // comes back only when it failed
  }();
  gate.refuse(started.error());
  ::_exit(kInitFailed);
}

}  // namespace

void init_main(InitPlan& plan, linux::MessageSocket parent) noexcept {
  ::prctl(PR_SET_NAME, "ocirun:init");
  const Result<void> outcome = linux::within_memory([&] { return run_init(plan, parent); });
  if (!outcome) [[maybe_unused]]
    const auto ignored = tell(parent, Message::kFailed, error_bytes(outcome.error()));
  ::_exit(kInitFailed);
}

}  // namespace ocirun::runtime
