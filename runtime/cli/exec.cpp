#include "runtime/commands/exec.hpp"

#include <fcntl.h>

#include "bundle/config/nearest_capability.hpp"
#include "bundle/json/document.hpp"
#include "linux/base/file_io.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/lsm.hpp"
#include "runtime/cli/command.hpp"
#include "runtime/foreground/attend.hpp"
#include "runtime/parent/exhausted_limits.hpp"
#include "runtime/parent/preflight.hpp"

namespace ocirun::runtime::cli {
namespace {

// Reads "UID[:GID]", digits only (crun CVE-2026-30892).
Result<void> read_user(const std::string& text, bundle::User& user) {
  const std::size_t colon = text.find(':');
  OCIRUN_TRY_ASSIGN(user.uid,
                    within(Uid::parse(std::string_view(text).substr(0, colon)), "--user {}", text));
  if (colon == std::string::npos) return {};
  OCIRUN_TRY_ASSIGN(
      user.gid, within(Gid::parse(std::string_view(text).substr(colon + 1)), "--user {}", text));
  return {};
}

// Never makes the capability inheritable, because an inheritable capability can outlive execve
// (runc CVE-2022-29162). If the process has it inheritable already, makes it ambient too.
void add_capability(const std::string& name, bundle::Process& process, const Log& log) {
  const auto number = linux::capability_number(name);
  if (!number) {
    const std::string near = bundle::nearest_capability(name);
    return log.warn(fmt::format(
        "--cap {}: unknown capability: it is not granted ({})", name,
        near.empty() ? "a name is written as in CAP_NET_RAW" : "did you mean " + near + "?"));
  }
  linux::CapabilitySets& sets =
      process.capabilities ? *process.capabilities : process.capabilities.emplace();
  sets.bounding.add(*number);
  sets.permitted.add(*number);
  sets.effective.add(*number);
  if (sets.inheritable.has(*number)) sets.ambient.add(*number);
}

Result<void> read_groups(const Arguments& arguments, bundle::User& user) {
  for (const std::string& text : arguments.values("additional-gids")) {
    OCIRUN_TRY_ASSIGN(const Gid gid, within(Gid::parse(text), "--additional-gids"));
    user.additional_gids.push_back(gid);
  }
  return {};
}

Result<void> read_environment(const Arguments& arguments, bundle::Process& process) {
  for (const std::string& entry : arguments.values("env")) {
    if (entry.find('=') == std::string::npos || entry.starts_with('='))
      return refuse("--env {}: must be NAME=VALUE", entry);
    process.env.push_back(entry);
  }
  return {};
}

// The process in config.json, changed by the options.
Result<bundle::Process> process_from_options(const Invocation& invocation,
                                             const bundle::Config& config) {
  const Arguments& arguments = invocation.arguments;
  bundle::Process process = config.process.value_or(bundle::Process{});
  if (arguments.operands().size() < 2)
    return refuse("the program to run is missing (or --process FILE)");
  process.args.assign(arguments.operands().begin() + 1, arguments.operands().end());
  process.terminal = arguments.has("tty");
  process.oom_score_adj.reset();
  if (process.cwd.empty()) process.cwd = "/";  // config.json has no process
  if (const auto cwd = arguments.value("cwd")) process.cwd = *cwd;
  if (!process.cwd.starts_with('/'))
    return refuse("--cwd {}: must be an absolute path in the container", process.cwd);
  if (const auto user = arguments.value("user")) OCIRUN_TRY(read_user(*user, process.user));
  OCIRUN_TRY(read_groups(arguments, process.user));
  OCIRUN_TRY(read_environment(arguments, process));
  for (const std::string& name : arguments.values("cap"))
    add_capability(name, process, invocation.log);
  if (const auto label = arguments.value("process-label")) process.selinux_label = *label;
  if (const auto profile = arguments.value("apparmor")) process.apparmor_profile = *profile;
  if (arguments.has("no-new-privs")) process.no_new_privileges = true;
  return process;
}

// Without an AppArmor profile or an SELinux label, `process` gets the profile or the label of the
// process in config.json.
void inherit_labels(bundle::Process& process, const bundle::Config& config) {
  if (!config.process) return;
  if (process.apparmor_profile.empty()) process.apparmor_profile = config.process->apparmor_profile;
  if (process.selinux_label.empty()) process.selinux_label = config.process->selinux_label;
}

Result<bundle::Process> process_from_file(const std::string& file, const Invocation& invocation,
                                          const bundle::Config& config) {
  const Arguments& arguments = invocation.arguments;
  std::vector<std::string> warnings;
  OCIRUN_TRY_ASSIGN(bundle::Process process,
                    within(bundle::parse_process(invocation.process_document, warnings), file));
  for (const std::string& warning : warnings) invocation.log.warn(warning);
  if (arguments.has("tty")) process.terminal = true;  // podman gives --process and --tty
  if (arguments.operands().size() > 1)
    invocation.log.warn(fmt::format(
        "--process {}: says which program is executed; {:?} on the command line is ignored", file,
        arguments.operands()[1]));
  inherit_labels(process, config);
  return process;
}

}  // namespace

Result<int> run_exec(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  OCIRUN_TRY_ASSIGN(const ContainerId id, id_of(arguments));
  OCIRUN_TRY_ASSIGN(const Container container, Container::load(invocation.options, id));
  OCIRUN_TRY(refuse_foreign(container.directory()));
  OCIRUN_TRY_ASSIGN(const bundle::Config config, container.config());

  const auto file = arguments.value("process");
  OCIRUN_TRY_ASSIGN(bundle::Process process, file ? process_from_file(*file, invocation, config)
                                                  : process_from_options(invocation, config));
  OCIRUN_TRY(linux::check_lsm(process.apparmor_profile, process.selinux_label));
  OCIRUN_TRY(warn_of_capabilities(process, config.namespaces, invocation.log,
                                  config.process ? &*config.process : nullptr));
  const bool detach = arguments.has("detach");
  const ExecRequest request{
      .process = std::move(process),
      .console_socket = arguments.path("console-socket"),
      .announcement = {.pid_file = arguments.path("pid-file"),
                       .pidfd_socket = arguments.path("pidfd-socket")},
      .terminal_keeper = !detach && !arguments.value("console-socket")
                             ? TerminalKeeper::kCaller
                             : TerminalKeeper::kConsoleSocket,
      .paused = arguments.has("ignore-paused") ? InPaused::kIsAllowed : InPaused::kIsAnError,
      .cgroups = arguments.values("cgroup"),
      .inheritance = invocation.inheritance};
  OCIRUN_TRY_ASSIGN(const ExecutedProcess executed,
                    exec_process(container, config, request, invocation.log));
  if (detach) return 0;
  finish(invocation.recording, invocation.log);
  OCIRUN_TRY_ASSIGN(const int status, attend(executed.child, executed.terminal));
  warn_of_oom(status, container.record(), executed.oom_kills_before, invocation.log);
  return status;
}

}  // namespace ocirun::runtime::cli
