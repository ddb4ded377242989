#include "runtime/parent/preflight.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "bundle/config/annotations.hpp"
#include "bundle/config/landlock.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/terminal.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/core_scheduling.hpp"
#include "linux/process/exec.hpp"
#include "linux/process/landlock.hpp"
#include "linux/process/lsm.hpp"
#include "linux/resctrl/group.hpp"
#include "runtime/base/options.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

Result<UniqueFd> connect_console(const bundle::Config& config, const CreateRequest& request) {
  const bool terminal = config.process && config.process->terminal;
  if (request.terminal_keeper == TerminalKeeper::kCaller) return UniqueFd();
  if (terminal && !request.console_socket)
    return refuse(
        "/process/terminal: true wants --console-socket, where the terminal is sent to (or `run` "
        "without --detach; or false, for a program that needs no terminal)");
  if (!terminal && request.console_socket)
    return refuse(
        "--console-socket: /process/terminal must be true in config.json, or leave the option out");
  if (!terminal) return UniqueFd();
  return within(linux::connect_unix(*request.console_socket), "--console-socket");
}

Result<void> check_root(const bundle::Config& config) {
  const std::string& path = config.root_path.string();
  const auto fd = linux::sys::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd) return {};
  return fail(fd.error().number(), "/root/path: open {} as the root directory", path);
}

// M-2: a destination is a path in the container. This function warns of a destination that begins
// with the path of the rootfs on the host.
void warn_of_destinations(const bundle::Config& config, const Log& log) {
  const std::string& root = config.root_path.string();
  if (root == "/") return;
  for (std::size_t index = 0; index < config.mounts.size(); ++index) {
    const std::string& destination = config.mounts[index].destination.string();
    if (destination != root && !destination.starts_with(root + "/")) continue;
    log.warn(fmt::format(
        "/mounts/{}/destination: {} begins with the root filesystem's path on the host; "
        "a destination is a path in the container, so this mount is {}{} on the host",
        index, destination, root, destination));
  }
}

// Refuses new namespaces that the kernel would refuse to an ordinary user. The error of the kernel
// would come later, after warnings of missing capabilities.
Result<void> check_ordinary_user(const bundle::Config& config) {
  const std::uint64_t flags = config.namespaces.new_flags();
  if (::geteuid() == 0 || flags == 0 || config.namespaces.contains(NamespaceKind::kUser)) return {};
  OCIRUN_TRY_ASSIGN(const linux::GrantableCapabilities grantable,
                    linux::grantable_capabilities({}));
  if (grantable.permitted.has(CAP_SYS_ADMIN)) return {};
  return fail(EPERM, "make the namespaces: {}", linux::why_namespaces_are_refused(EPERM, flags));
}

// The pid file is written after the hooks. This check reports a missing directory before the hooks
// run.
Result<void> check_pid_file(const std::optional<HostPath>& file) {
  if (file) OCIRUN_TRY(within(linux::open_parent(*file), "--pid-file"));
  return {};
}

Result<void> check_security_modules(const bundle::Config& config, const Log& log) {
  if (!config.mount_label.empty()) {
    if (linux::selinux_enabled())
      OCIRUN_TRY(linux::check_mount_label(config.mount_label));
    else
      log.warn("/linux/mountLabel: SELinux is not enabled on this host, the label is left out");
  }
  if (!config.process) return {};
  const bundle::Process& process = *config.process;
  return linux::check_lsm(process.apparmor_profile, process.selinux_label);
}

Result<void> check_core_scheduling(const Log& log) {
  const linux::CoreScheduling there = linux::core_scheduling();
  if (there == linux::CoreScheduling::kMissing)
    return refuse("/annotations/{}: needs a kernel with CONFIG_SCHED_CORE (Linux 5.14)",
                  bundle::kCoreScheduling);
  if (there == linux::CoreScheduling::kOff)
    log.warn(fmt::format(
        "/annotations/{}: has no effect, also later: the threads of the cores are switched off "
        "(/sys/devices/system/cpu/smt/control)",
        bundle::kCoreScheduling));
  return {};
}

}  // namespace

Result<void> warn_of_capabilities(const bundle::Process& process,
                                  const linux::NamespaceSet& namespaces, const Log& log,
                                  const bundle::Process* told) {
  // A process that enters a user namespace gets every capability there. A container without a user
  // namespace has at most the capabilities of ocirun.
  if (!process.capabilities || namespaces.contains(NamespaceKind::kUser)) return {};
  const bool has_told = told != nullptr && told->capabilities;
  const auto asked = linux::CapabilitySet::from_bits(
      process.capabilities->bounding.bits() | (has_told ? told->capabilities->bounding.bits() : 0));
  OCIRUN_TRY_ASSIGN(const linux::GrantableCapabilities grantable,
                    linux::grantable_capabilities(asked));
  linux::UngrantedCapabilities known;
  if (has_told) known = linux::find_ungranted(*told->capabilities, grantable);
  const linux::UngrantedCapabilities lost = linux::find_ungranted(*process.capabilities, grantable);
  // The kernel grants no ambient capability that is not inheritable. `runc spec` and `crun spec`
  // write ambient capabilities without inheritable ones, so the loss is not worth a warning.
  if (process.capabilities->inheritable.empty()) {
    for (const std::string& sentence : linux::describe_ungranted({.ambient = lost.ambient}, known))
      log.debug(sentence);
    known.ambient = lost.ambient;
  }
  for (const std::string& sentence : linux::describe_ungranted(lost, known)) log.warn(sentence);
  return {};
}

Result<Preflight> check_host(const bundle::Config& config, const CreateRequest& request,
                             const Log& log) {
  Preflight host;
  OCIRUN_TRY(check_ordinary_user(config));  // first, because after this error no warning matters
  OCIRUN_TRY(check_root(config));
  warn_of_destinations(config, log);
  OCIRUN_TRY(check_pid_file(request.announcement.pid_file));
  OCIRUN_TRY(check_security_modules(config, log));
  OCIRUN_TRY_ASSIGN(const auto landlock, bundle::landlock_rules(config.annotations));
  if (landlock)
    OCIRUN_TRY(within(linux::check_landlock(*landlock), "/annotations/org.ocirun.landlock"));
  if (bundle::wants_core_scheduling(config.annotations)) OCIRUN_TRY(check_core_scheduling(log));
  if (config.process) OCIRUN_TRY(warn_of_capabilities(*config.process, config.namespaces, log));
  if (config.intel_rdt) {
    OCIRUN_TRY_ASSIGN(host.resctrl, linux::find_resctrl());
  }
  OCIRUN_TRY_ASSIGN(host.console, connect_console(config, request));
  return host;
}

}  // namespace ocirun::runtime
