#include "runtime/init/process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>

#include "bundle/config/annotations.hpp"
#include "bundle/config/landlock.hpp"
#include "linux/process/core_scheduling.hpp"
#include "linux/process/interpreter.hpp"
#include "linux/process/landlock.hpp"
#include "linux/process/lsm.hpp"
#include "linux/process/rlimits.hpp"
#include "linux/process/scheduling.hpp"
#include "linux/seccomp/filter_bytes.hpp"
#include "runtime/init/executable.hpp"
#include "runtime/init/namespaces.hpp"
#include "runtime/protocol/protocol.hpp"

namespace ocirun::runtime {
namespace {

// CVE-2024-21626: through a leaked descriptor, chdir(2) can reach a directory outside of the root.
// For such a directory the system call getcwd returns "(unreachable)…". glibc's getcwd() fails with
// ENOENT, as for a removed directory.
Result<void> check_working_directory(const std::string& wanted) {
  std::array<char, PATH_MAX> path;
  const long length = ::syscall(SYS_getcwd, path.data(), path.size());
  if (length > 0 && path[0] == '/') return {};
  if (length < 0 && errno == ENOENT)
    return fail(ENOENT,
                "/process/cwd: {}: this directory has been removed from the host, perhaps with the "
                "whole root filesystem",
                wanted);
  return refuse("/process/cwd: {}: is outside of the container's root", wanted);
}

// The descriptor number that the seccomp listener will get. The parent learns the number before the
// filter is loaded, because the filter may hold up later messages.
Result<int> next_descriptor() {
  const int number = ::fcntl(0, F_DUPFD_CLOEXEC, 0);
  if (number < 0) return fail(errno, "find a descriptor for the seccomp listener");
  ::close(number);
  return number;
}

// The seccomp agent may refuse a call that the filter hands to the agent, or may never answer. So
// this process talks to ocirun by other calls, if possible. ocirun refuses a profile that hands
// write to an agent (S-5).
linux::SendBy send_by_below(const linux::SeccompFilter& filter) {
  const bool is_free = linux::certainly_allows(filter, SYS_sendmsg) &&  // of MessageSocket
                       linux::certainly_allows(filter, SYS_sendto);     // of StartGate
  return is_free ? linux::SendBy::kSocketCall : linux::SendBy::kWrite;
}
linux::ReceiveBy receive_by_below(const linux::SeccompFilter& filter) {
  return linux::certainly_allows(filter, SYS_recvmsg) || !linux::certainly_allows(filter, SYS_read)
             ? linux::ReceiveBy::kSocketCall
             : linux::ReceiveBy::kRead;
}

// Whether the container's user becomes the owner of a standard stream. A regular file that is open
// for reading only keeps its owner: a new owner could make the file writable by chmod(2). A device
// keeps its owner: a new owner of the caller's terminal could read later input of the caller. The
// container's own terminal belongs to the user already.
bool is_given_away(int fd, const struct stat& status) {
  if (S_ISCHR(status.st_mode)) return false;
  if (S_ISREG(status.st_mode)) return (::fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
  return !S_ISBLK(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

ContainerProcess::ContainerProcess(const bundle::Config& config, const bundle::Process* process,
                                   Entrance entrance, const Inheritance& inheritance,
                                   std::optional<linux::SeccompFilter> filter)
    : config_(config),
      process_(process),
      entrance_(entrance),
      inheritance_(inheritance),
      filter_(std::move(filter)) {}

Result<void> ContainerProcess::set_attributes(linux::ProcfsOnDemand& procfs) {
  // Without execCPUAffinity, the process gets all CPUs of the cpuset, not the affinity of ocirun's
  // caller.
  const auto& affinity = process_->final_cpu_affinity;
  if (entrance_ == Entrance::kExec && affinity && !affinity->empty()) {
    OCIRUN_TRY(within(linux::set_cpu_affinity(*affinity), "/process/execCPUAffinity/final"));
  } else if (entrance_ == Entrance::kInit || !process_->initial_cpu_affinity) {
    OCIRUN_TRY(linux::reset_cpu_affinity());
  }
  if (process_->scheduler)
    OCIRUN_TRY(within(linux::set_scheduler(*process_->scheduler), "/process/scheduler"));
  if (entrance_ == Entrance::kInit && bundle::wants_core_scheduling(config_.annotations))
    OCIRUN_TRY(within(linux::make_core_cookie(), "/annotations/{}", bundle::kCoreScheduling));
  if (process_->io_priority)
    OCIRUN_TRY(within(linux::set_io_priority(*process_->io_priority), "/process/ioPriority"));
  if (config_.personality)
    OCIRUN_TRY(within(linux::set_personality(*config_.personality), "/linux/personality"));
  if (config_.memory_policy)
    OCIRUN_TRY(within(linux::set_memory_policy(*config_.memory_policy), "/linux/memoryPolicy"));
  OCIRUN_TRY(linux::set_apparmor_on_exec(procfs, process_->apparmor_profile));
  OCIRUN_TRY(linux::set_selinux_on_exec(procfs, process_->selinux_label));
  OCIRUN_TRY(set_groups(procfs));
  environment_ = build_environment();
  return enter_working_directory();
}

std::vector<std::string> ContainerProcess::build_environment() const {
  std::vector<std::string> entries = process_->env;
  if (inheritance_.listening_sockets > 0) {  // LG-2; getpid() is the pid in the container
    entries.push_back(fmt::format("LISTEN_FDS={}", inheritance_.listening_sockets));
    entries.push_back(fmt::format("LISTEN_PID={}", ::getpid()));
  }
  const char* home = find_variable(entries, "HOME");
  const bool lacks_home = home == nullptr || *home == '\0';
  return normalize_environment(
      entries, lacks_home ? find_home(process_->user.uid.value()) : std::string("/"));
}

// Called before the filter is loaded: under a filter that refuses setgroups, the process would keep
// the groups of ocirun's caller.
Result<void> ContainerProcess::set_groups(linux::ProcfsOnDemand& procfs) const {
  const std::vector<Gid>& groups = process_->user.additional_gids;
  auto set = linux::set_groups(groups);
  if (set || !groups.empty()) return set;
  if (::getgroups(0, nullptr) == 0) return {};
  // In a user namespace that an unprivileged user made, the kernel may deny setgroups(2). The
  // process then keeps the groups of that user.
  const auto opened = procfs.get();
  if (!opened) return set;
  const auto rule = (*opened)->read("self/setgroups");
  return rule && rule->starts_with("deny") ? Result<void>{} : set;
}

Result<void> ContainerProcess::enter_working_directory() {
  if (::chdir(process_->cwd.c_str()) != 0) {
    // P-4: the process's user may enter a directory that is closed to the container's root, such as
    // a directory of mode 0700 on NFS with root_squash.
    if (errno == EACCES && !retry_directory_) {
      retry_directory_ = true;
      return {};
    }
    return fail(errno, "/process/cwd: change to {}", process_->cwd);
  }
  retry_directory_ = false;
  return check_working_directory(process_->cwd);
}

Result<void> ContainerProcess::set_limits(const linux::MessageSocket& parent) {
  auto set = linux::set_rlimits(0, process_->rlimits);
  const bool may_ask = !set && set.error().number() == EPERM &&
                       config_.namespaces.contains(linux::NamespaceKind::kUser);
  if (!may_ask) return set;
  // Raising a hard limit needs CAP_SYS_RESOURCE of the host. The parent may have this capability,
  // so the parent is asked to set all limits.
  OCIRUN_TRY(ask(parent, Message::kSetLimits));
  return {};
}

Result<void> ContainerProcess::load_filter(linux::MessageSocket& parent) {
  if (!filter_->notify) {
    OCIRUN_TRY(linux::load_seccomp(*filter_));
  } else {
    // The parent tries to fetch descriptor `number` until the descriptor exists. A message after
    // the loading could deadlock: a filter may hand sendmsg to an agent that has no listener yet.
    OCIRUN_TRY_ASSIGN(const int number, next_descriptor());
    OCIRUN_TRY(tell(parent, Message::kListener, fmt::format("{}", number)));
    // Without this handler, write(2) to a `start` that has died could end init. execve resets the
    // handler.
    ::signal(SIGPIPE, [](int) {});
    OCIRUN_TRY_ASSIGN(const UniqueFd listener, linux::load_seccomp(*filter_));
    if (listener.get() != number)
      return fail(EPROTO, "the seccomp listener is descriptor {}, not {}", listener.get(), number);
    send_by_ = send_by_below(*filter_);
    parent.talk_by(send_by_, receive_by_below(*filter_));
    OCIRUN_TRY(await_go(parent));
  }
  filter_.reset();
  return {};
}

void ContainerProcess::own_standard_streams() const {
  // A program that logs to /dev/stdout opens the file behind descriptor 1 again, so the program's
  // user must own that file. Errors are ignored: the file may be on a read-only filesystem or
  // belong to another user.
  for (const int fd : {0, 1, 2}) {
    struct stat status{};
    if (::fstat(fd, &status) != 0 || status.st_uid == process_->user.uid.value()) continue;
    if (is_given_away(fd, status))
      ignore(::fchown(fd, process_->user.uid.value(), static_cast<gid_t>(-1)));
  }
}

Result<linux::CapabilitySets> ContainerProcess::drop_bounding_set() const {
  const auto wanted = process_->capabilities.value_or(linux::CapabilitySets{});
  OCIRUN_TRY_ASSIGN(const linux::GrantableCapabilities grantable,
                    linux::grantable_capabilities(wanted.bounding));
  // The parent has warned of capabilities that cannot be granted: warn_of_capabilities().
  const linux::CapabilitySets sets = linux::limit_to_grantable(wanted, grantable);
  OCIRUN_TRY(linux::drop_bounding_set(sets.bounding));
  return sets;
}

Result<void> ContainerProcess::change_identity(const linux::CapabilitySets& sets) const {
  OCIRUN_TRY(linux::become_user(process_->user.uid, process_->user.gid));
  ::prctl(PR_SET_DUMPABLE, 0);  // become_user() sets the flag if fs.suid_dumpable is 1
  return linux::set_capabilities(sets);
}

Result<void> ContainerProcess::restrict(linux::MessageSocket& parent) {
  OCIRUN_TRY(check_filter_allows_execve());
  linux::close_descriptors_on_exec(3 + inheritance_.descriptors());
  own_standard_streams();
  if (process_->no_new_privileges && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(errno, "/process/noNewPrivileges: set");
  OCIRUN_TRY(set_limits(parent));
  OCIRUN_TRY_ASSIGN(const linux::CapabilitySets sets, drop_bounding_set());
  ::umask(process_->user.umask.value_or(inheritance_.umask));
  // Here, while the process has CAP_SYS_ADMIN and may open each path, and no filter refuses calls.
  OCIRUN_TRY_ASSIGN(const auto landlock, bundle::landlock_rules(config_.annotations));
  if (landlock)
    OCIRUN_TRY(within(linux::restrict_by_landlock(*landlock), "/annotations/org.ocirun.landlock"));
  // Without noNewPrivileges, a filter is loaded with CAP_SYS_ADMIN, which change_identity() drops.
  if (filter_ && !process_->no_new_privileges) OCIRUN_TRY(load_filter(parent));
  OCIRUN_TRY(change_identity(sets));
  OCIRUN_TRY(die_with_parent(parent));  // the kernel clears PDEATHSIG when the ids change
  if (filter_ && filter_->notify) OCIRUN_TRY(load_filter(parent));
  if (retry_directory_) OCIRUN_TRY(enter_working_directory());
  OCIRUN_TRY_ASSIGN(executable_, find_executable(process_->args.front(), environment_, place()));
  arguments_ = std::make_unique<linux::ExecArguments>(process_->args, environment_);
  return {};
}

Result<void> ContainerProcess::load_late_filter() const {
  if (filter_) OCIRUN_TRY(linux::load_seccomp(*filter_));
  return {};
}

// Called before the filter is loaded: under the filter, the process may be unable to report errors.
Result<void> ContainerProcess::check_filter_allows_execve() const {
  switch (filter_ ? linux::judge(*filter_, SYS_execve) : linux::Verdict::kUnknown) {
    case linux::Verdict::kEndsCaller:
      return refuse(
          "/linux/seccomp: the profile kills the process before it could execute the program: "
          "allow execve");
    case linux::Verdict::kRefusesCall:
      return refuse(
          "/linux/seccomp: the profile refuses execve, which executes the program: allow execve");
    case linux::Verdict::kUnknown:
      break;
  }
  return {};
}

std::string_view ContainerProcess::place() const {
  return config_.seccomp && !config_.seccomp->spares_caller() ? "" : "in the container";
}

Result<void> ContainerProcess::execute() {
  OCIRUN_TRY(load_late_filter());
  ::execve(executable_.c_str(), arguments_->argv(), arguments_->envp());
  const int error = errno;
  const std::string cause = linux::explain_exec(executable_, error, place());
  const bool may_be_filter =
      cause.empty() && config_.seccomp && (error == EPERM || error == EACCES);
  return fail(error, "exec {}{}{}", executable_,
              may_be_filter ? " (/linux/seccomp must allow execve)" : "", cause);
}

Result<void> join_keyring(const bundle::Process& process, linux::ProcfsOnDemand& procfs) {
  OCIRUN_TRY(linux::set_selinux_key_label(procfs, process.selinux_label));
  return linux::join_session_keyring();
}

Result<std::optional<linux::SeccompFilter>> receive_filter(const bundle::Config& config,
                                                           const linux::MessageSocket& parent) {
  if (!config.seccomp || !config.process) return std::nullopt;
  OCIRUN_TRY_ASSIGN(const linux::Packet packet, ask(parent, Message::kWantFilter));
  OCIRUN_TRY_ASSIGN(linux::SeccompFilter filter, linux::parse_filter_bytes(packet.payload));
  return filter;
}

}  // namespace ocirun::runtime
