#include "cgroups/container/cgroup.hpp"
#include "linux/base/name_table.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/commands/kill.hpp"
#include "runtime/commands/remove.hpp"
#include "runtime/commands/start.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime::cli {

Result<int> run_start(const Invocation& invocation) {
  TRY_ASSIGN(const ContainerId id, invocation.arguments.id());
  TRY_ASSIGN(Container container, Container::load(invocation.options, id));
  TRY(container.lock_and_reload());
  const Status status = container.status();
  if (!can_start(status)) return refuse_start(status);
  TRY(refuse_foreign(container.directory()));
  TRY(start_container(container.directory(), container.record(), invocation.log));
  return 0;
}

Result<int> run_kill(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  TRY_ASSIGN(const ContainerId id, arguments.id());
  TRY_ASSIGN(const Container container, Container::load(invocation.options, id));
  std::string name =
      arguments.positionals.size() > 1 ? arguments.positionals[1] : container.record().stop_signal;
  if (name.empty()) name = "TERM";
  TRY_ASSIGN(const int signal, linux::parse_signal(name));
  TRY_ASSIGN(
      const std::size_t left,
      kill_container(container, signal, arguments.has("all") ? KillScope::kAll : KillScope::kInit));
  if (left != 0)
    invocation.log.info(fmt::format(
        "the container's init has ended; signal {} went to the {} process{} left in its "
        "cgroup",
        signal, left, left == 1 ? "" : "es"));
  return 0;
}

Result<int> run_delete(const Invocation& invocation) {
  TRY_ASSIGN(const ContainerId id, invocation.arguments.id());
  TRY(delete_container(invocation.options, id,
                       invocation.arguments.has("force") ? Force::kYes : Force::kNo,
                       invocation.log));
  return 0;
}

namespace {

Result<int> change_freezer(const Invocation& invocation, bool (*is_allowed)(Status),
                           cgroups::FreezerState state) {
  TRY_ASSIGN(const ContainerId id, invocation.arguments.id());
  TRY_ASSIGN(Container container, Container::load(invocation.options, id));
  TRY(container.lock_and_reload());
  const Status status = container.status();
  if (!is_allowed(status))
    return refuse("container is {}: it must be {}", status_name(status),
                  state == cgroups::FreezerState::kFrozen ? "created or running" : "paused");
  if (container.record().cgroup_manager == CgroupManager::kDisabled)
    return refuse(
        "the container has no cgroup of its own that could be frozen: it was created with "
        "--cgroup-manager=disabled, or by a user without a delegated cgroup");
  TRY_ASSIGN(const auto cgroup, container.cgroup());
  TRY(cgroup->freeze(state));
  return 0;
}

}  // namespace

Result<int> run_pause(const Invocation& invocation) {
  return change_freezer(invocation, can_pause, cgroups::FreezerState::kFrozen);
}
Result<int> run_resume(const Invocation& invocation) {
  return change_freezer(invocation, can_resume, cgroups::FreezerState::kThawed);
}

}  // namespace ocirun::runtime::cli
