#include "runtime/init/init.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "bundle/config/annotations.hpp"
#include "linux/base/memory_reserve.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/timeline.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/terminal.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/core_scheduling.hpp"
#include "linux/process/exec.hpp"
#include "linux/process/lsm.hpp"
#include "linux/process/scheduling.hpp"
#include "runtime/init/join.hpp"
#include "runtime/init/namespaces.hpp"
#include "runtime/init/process.hpp"
#include "runtime/protocol/protocol.hpp"

namespace ocirun::runtime {
namespace {

void keep_only_exec_descriptors(const ExecPlan& plan, const linux::MessageSocket& parent) {
  std::vector<Fd> keep = plan.inheritance.descriptor_list();
  keep.push_back(parent.fd());
  for (const UniqueFd& tasks : plan.cgroup.tasks) keep.push_back(tasks);
  for (const Fd fd : plan.namespaces.descriptors()) keep.push_back(fd);
  linux::close_descriptors_but(keep);
}

Result<void> enter_host_root(const HostPath& root) {
  if (::chdir(root.c_str()) != 0 || ::chroot(".") != 0)
    return fail(errno, "change root to {}", root.string());
  return {};
}

Result<linux::Child> run_exec_stage(const ExecPlan& plan, const linux::MessageSocket& parent) {
  keep_only_exec_descriptors(plan, parent);
  OCIRUN_TRY(die_with_parent(parent));
  // P-18: `initial` is the affinity until the process is in the cgroup, `final` from then on.
  if (const auto& initial = plan.process.initial_cpu_affinity; initial && !initial->empty())
    OCIRUN_TRY(within(linux::set_cpu_affinity(*initial), "/process/execCPUAffinity/initial"));
  if (plan.cookie_of)
    OCIRUN_TRY(within(linux::take_core_cookie(*plan.cookie_of), "/annotations/{}",
                      bundle::kCoreScheduling));
  OCIRUN_TRY(join_tasks(plan.cgroup));
  OCIRUN_TRY(enter_container(plan.namespaces, plan.config));
  if (plan.host_root) OCIRUN_TRY(enter_host_root(*plan.host_root));
  ::prctl(PR_SET_DUMPABLE, 0);  // the container's processes can see the clone (CVE-2016-9962)
  return linux::clone_process(0, Fd{}, linux::Parentage::kOfMyParent);
}

Result<void> open_own_terminal(const ExecPlan& plan, linux::ProcfsOnDemand& procfs,
                               const linux::MessageSocket& parent) {
  if (!plan.process.terminal) return {};
  OCIRUN_TRY_ASSIGN(const linux::SafeDir root, linux::SafeDir::open_root(HostPath("/")));
  const bundle::Process& process = plan.process;
  OCIRUN_TRY_ASSIGN(const linux::Procfs* opened, procfs.get());
  OCIRUN_TRY_ASSIGN(const linux::Terminal terminal,
                    linux::open_terminal(root, *opened, process.console_size, process.user.uid));
  const Fd master = terminal.master;
  OCIRUN_TRY(tell(parent, Message::kTerminal, {}, std::span(&master, 1)));
  return linux::become_controlling_terminal(terminal.slave);
}

/// `proc_status`: the text of /proc/PID/status of the stage, which cloned this process. The stage
/// reads the text before the stage enters the container, whose /proc may be covered.
Result<void> run_process(const ExecPlan& plan, linux::MessageSocket& parent,
                         std::string_view proc_status) {
  linux::timeline::name_lane("process");
  linux::timeline::step("set up the process");
  OCIRUN_TRY(await_go(parent));
  OCIRUN_TRY(die_with_parent(parent));
  OCIRUN_TRY(start_session());
  linux::reset_signals(proc_status);
  ContainerProcess process(plan.config, &plan.process, Entrance::kExec, plan.inheritance,
                           plan.filter);
  {
    // A mount of our own: the container may have covered files of its /proc, and ocirun would write
    // security labels to the covering files.
    linux::ProcfsOnDemand procfs;
    OCIRUN_TRY(within(open_own_terminal(plan, procfs, parent), "terminal"));
    if (plan.new_keyring) OCIRUN_TRY(join_keyring(plan.process, procfs));
    OCIRUN_TRY(process.set_attributes(procfs));
  }
  OCIRUN_TRY(process.restrict(parent));
  OCIRUN_TRY(report_ready(parent));
  linux::timeline::step("execute the program");
  return process.execute();
}

[[noreturn]] void fail_and_exit(const linux::MessageSocket& parent, const Error& error) {
  ignore(tell(parent, Message::kFailed, error_bytes(error)));
  ::_exit(255);
}

}  // namespace

void exec_stage_main(const ExecPlan& plan, linux::MessageSocket parent) noexcept {
  ::prctl(PR_SET_NAME, "ocirun:exec");
  plan.inheritance.command_line.forget();
  linux::timeline::name_lane("stage");
  linux::timeline::step("enter the container");
  std::string proc_status;
  const Result<linux::Child> process = linux::within_memory([&] {
    proc_status = linux::host_own_status();
    return run_exec_stage(plan, parent);
  });
  if (!process) fail_and_exit(parent, process.error());
  if (process->pid != 0) {
    report_forked(parent, process->pid);
    linux::timeline::end_step();
    ::_exit(0);
  }
  const Result<void> outcome =
      linux::within_memory([&] { return run_process(plan, parent, proc_status); });
  fail_and_exit(parent, outcome.error());
}

}  // namespace ocirun::runtime
