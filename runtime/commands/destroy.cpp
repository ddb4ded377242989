#include "runtime/commands/destroy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "hooks/run_hook.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/commands/processes.hpp"
#include "runtime/parent/init_link.hpp"
#include "runtime/parent/net_devices.hpp"
#include "runtime/state/container.hpp"
#include "runtime/state/namespace_pins.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::chrono::seconds kKillPatience{10};

// Returns the record without init's pid and without the cgroup if the host has been rebooted. After
// a reboot, another process may have the pid, and another container may use the path of the cgroup.
bundle::ContainerRecord of_this_boot(const bundle::ContainerRecord& record) {
  bundle::ContainerRecord now = record;
  const auto boot = linux::read_boot_id();
  if (boot && *boot != record.boot_id) {
    now.init_pid = 0;
    now.cgroup = {};
    now.boot_id = *boot;
  }
  return now;
}

// Kills init, because the removal of the cgroup may not kill init: the container may have no
// cgroup, or somebody may have moved init to another cgroup. In a pid namespace of the container,
// the other processes die with init. In a frozen cgroup of cgroup v1, init dies only after the
// removal of the cgroup has thawed the cgroup, so await_end_of_init() is a separate step. Returns
// whether init was alive.
Result<bool> signal_init(const bundle::ContainerRecord& record, bool is_ours) {
  const linux::ProcessIdentity init = record.init();
  OCIRUN_TRY_ASSIGN(const bool alive, linux::find_alive(init));
  if (!alive) return false;
  if (is_ours && is_without_cgroup(record) && !record.own_pid_namespace)
    OCIRUN_TRY(signal_without_cgroup(init, false, SIGKILL));
  auto sent = linux::send_signal(init, SIGKILL);
  if (!sent && sent.error().number() != ESRCH) return std::unexpected(std::move(sent).error());
  return true;
}

Result<void> await_end_of_init(const bundle::ContainerRecord& record) {
  OCIRUN_TRY_ASSIGN(const bool has_ended, linux::ends_within(record.init(), kKillPatience));
  if (has_ended) return {};
  return refuse("process {} did not die within {} s of SIGKILL", record.init_pid,
                kKillPatience.count());
}

Result<void> remove_namespace_pins(const bundle::NamespacePinRecord& pins, const Log& log) {
  OCIRUN_TRY_ASSIGN(const PinsFound found, remove_pins(pins));
  if (found == PinsFound::kNone)
    log.warn(fmt::format(
        "{}: the namespaces of --pin-namespaces are not mounted there: nothing is unmounted",
        pins.directory));
  return {};
}

}  // namespace

Result<HostRootfs> detach_host_rootfs(const bundle::ContainerRecord& record) {
  if (!record.rootfs_mount) return HostRootfs::kIsNotOurs;
  const auto boot = linux::read_boot_id();
  if (boot && *boot != record.boot_id) return HostRootfs::kIsNotOurs;  // the reboot ended the mount
  const auto top = linux::sys::open(record.rootfs.c_str(), O_PATH | O_DIRECTORY);
  if (!top) return HostRootfs::kIsNotOurs;
  OCIRUN_TRY_ASSIGN(const std::uint64_t mount, linux::sys::mount_id(*top));
  // A kernel before Linux 5.8 does not tell the ids of mounts: `mount` is 0.
  if (mount == 0 || mount != *record.rootfs_mount) return HostRootfs::kIsNotOurs;
  // Unmounts through the descriptor, because another mount may cover the path meanwhile.
  OCIRUN_TRY(within(linux::sys::unmount(linux::host_fd_link(*top).c_str(), linux::sys::kDetach),
                    "unmount " + record.rootfs));
  return HostRootfs::kDetached;
}

void run_poststop(const bundle::Config& config, const bundle::ContainerRecord& record,
                  const Log& log) {
  bundle::StateDocument state = document_of(record);
  state.status = Status::kStopped;
  const hooks::Context hook_context = on_host(state, HostPath(record.bundle), log);
  ignore(hooks::run_phase(config.hooks, hooks::Kind::kPoststop,
                          hooks::failure_rule(hooks::Kind::kPoststop), hook_context));
}

Result<void> destroy_container(const StateDirectory& directory,
                               const bundle::ContainerRecord& record, const Log& log) {
  // A record that another user wrote must not make root run hooks, unmount, or remove resctrl
  // groups on the host.
  OCIRUN_TRY_ASSIGN(const std::uint32_t owner, directory.owner());
  const bool is_ours = owner == ::geteuid();
  if (!is_ours &&
      (record.has_poststop || record.resctrl || record.mounts_on_host || record.namespace_pins))
    log.warn(
        "the state belongs to another user: poststop hooks, resctrl groups, mounts and pinned "
        "namespaces are left alone");
  bundle::ContainerRecord reachable = of_this_boot(record);
  OCIRUN_TRY_ASSIGN(const bool was_alive, signal_init(reachable, is_ours));
  if (!is_ours) reachable.cgroup.unit.clear();  // another user's record sends no request to systemd
  OCIRUN_TRY_ASSIGN(const auto cgroup, cgroup_of(reachable));
  OCIRUN_TRY(within(cgroup->destroy(), "remove the cgroup"));
  if (was_alive) OCIRUN_TRY(await_end_of_init(reachable));
  // Network namespaces do not outlive a boot, so no device has to be moved back.
  if (is_ours && reachable.boot_id != record.boot_id) OCIRUN_TRY(forget_net_devices(directory));
  if (is_ours) OCIRUN_TRY(return_devices_of_unstarted(directory, log));
  if (is_ours && record.resctrl) OCIRUN_TRY(linux::remove_resctrl(*record.resctrl));
  if (is_ours && record.namespace_pins && reachable.boot_id == record.boot_id)
    OCIRUN_TRY(remove_namespace_pins(*record.namespace_pins, log));
  if (is_ours && record.rootfs_mount) {
    OCIRUN_TRY_ASSIGN(const HostRootfs rootfs, detach_host_rootfs(record));
    if (rootfs == HostRootfs::kIsNotOurs)
      log.warn(fmt::format(
          "{}: another mount covers or replaces the mount of the root filesystem: nothing is "
          "unmounted there",
          record.rootfs));
  }

  std::optional<bundle::Config> config;  // read before the state directory is removed
  if (is_ours && record.has_poststop) {
    auto snapshot = directory.read_snapshot(record.bundle);
    if (!snapshot) log.warn("poststop hooks do not run: " + snapshot.error().message());
    if (snapshot) config = std::move(*snapshot);
  }
  OCIRUN_TRY(directory.remove());
  if (config) run_poststop(*config, record, log);
  return {};
}

}  // namespace ocirun::runtime
