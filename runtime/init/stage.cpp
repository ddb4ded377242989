#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/memory_reserve.hpp"
#include "linux/base/timeline.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/clone.hpp"
#include "runtime/init/init.hpp"
#include "runtime/init/join.hpp"
#include "runtime/init/namespaces.hpp"
#include "runtime/protocol/protocol.hpp"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

Result<void> enter_user(const InitPlan& plan, const linux::MessageSocket& parent) {
  const linux::NamespaceSet& wanted = plan.config.namespaces;
  if (wanted.joins(NamespaceKind::kUser)) {
    OCIRUN_TRY(join_user_namespace(plan.pinned));
    OCIRUN_TRY(become_namespace_root(plan.config));
  }
  int flags = 0;
  if (wanted.creates(NamespaceKind::kUser)) flags |= CLONE_NEWUSER;
  if (wanted.creates(NamespaceKind::kTime))
    flags |= CLONE_NEWTIME;  // not by clone3: offsets cannot be written once a process is inside
  if (flags == 0) return {};
  if (::unshare(flags) != 0) {
    const int error = errno;
    const std::string reason =
        linux::why_namespaces_are_refused(error, static_cast<std::uint64_t>(flags));
    return fail(error, "make the user or time namespace{}{}", reason.empty() ? "" : ": ", reason);
  }
  return map_ids(plan, parent);  // the parent writes the time offsets too
}

Result<linux::Child> run_stage(const InitPlan& plan, const linux::MessageSocket& parent) {
  OCIRUN_TRY(die_with_parent(parent));
  OCIRUN_TRY(join_namespaces(plan.pinned, plan.config.namespaces.contains(NamespaceKind::kUser),
                             [&] { return enter_user(plan, parent); }));
  ::prctl(PR_SET_DUMPABLE, 0);  // before the processes of a joined pid namespace can see init
  // enter_user() has made the user and time namespaces. join_cgroups() makes the cgroup namespace
  // after init has joined its cgroups.
  const std::uint64_t flags = plan.config.namespaces.new_flags() &
                              ~std::uint64_t{CLONE_NEWUSER | CLONE_NEWTIME | CLONE_NEWCGROUP};
  auto init = linux::clone_process(flags, Fd{}, linux::Parentage::kOfMyParent);
  if (!init) {
    const int error = init.error().number();
    std::string reason = flags == 0 ? "" : linux::why_namespaces_are_refused(error, flags);
    if (error == ENOMEM && plan.config.namespaces.joins(NamespaceKind::kPid))
      reason =
          "/linux/namespaces: a pid namespace takes no new processes once its first process has "
          "ended: look whether that of the joined one runs";
    if (!reason.empty()) init.error().within(std::move(reason));
  }
  return within(std::move(init), "make the container's namespaces");
}

}  // namespace

bool needs_stage(const bundle::Config& config) {
  const linux::NamespaceSet& wanted = config.namespaces;
  // L-34: the user who makes an ipc namespace owns the mqueue filesystem of the namespace. Only the
  // owner may label the filesystem. Without a stage, the owner would be an id without a mapping.
  if (!config.mount_label.empty() && wanted.creates(NamespaceKind::kUser) &&
      wanted.creates(NamespaceKind::kIpc))
    return true;
  if (wanted.contains(NamespaceKind::kTime) || wanted.joins(NamespaceKind::kUser) ||
      wanted.joins(NamespaceKind::kPid))
    return true;
  const bool joins_any = std::ranges::any_of(
      wanted.entries(), [](const auto& entry) { return entry.path.has_value(); });
  return wanted.creates(NamespaceKind::kUser) && joins_any;
}

void stage_main(InitPlan& plan, linux::MessageSocket parent) noexcept {
  ::prctl(PR_SET_NAME, "ocirun:stage");
  // In a joined pid namespace, /proc shows the command line of init from the clone on.
  plan.inheritance.command_line.forget();
  linux::timeline::name_lane("stage");
  linux::timeline::step("join and make namespaces");
  const Result<linux::Child> init = linux::within_memory([&] { return run_stage(plan, parent); });
  if (init && init->pid == 0) init_main(plan, std::move(parent));
  if (init) {
    report_forked(parent, init->pid);
    linux::timeline::end_step();
    ::_exit(0);
  }
  ignore(tell(parent, Message::kFailed, error_bytes(init.error())));
  ::_exit(1);
}

}  // namespace ocirun::runtime
