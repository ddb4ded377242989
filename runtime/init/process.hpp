#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/exec.hpp"
#include "linux/seccomp/filter.hpp"
#include "runtime/base/options.hpp"

namespace ocirun::runtime {

/// The way in which the process comes into the container: as init, or by `exec`.
enum class Entrance { kInit, kExec };

/// Turns the calling process into the one that `process` describes, for init and for `exec`. The
/// steps are called in the order of their declaration, inside the container's root, by a process
/// with one thread.
class ContainerProcess {
 public:
  /// Without a `process` (P-1), exists() is false and no step may be called. `filter` is the
  /// compiled seccomp profile.
  ContainerProcess(const bundle::Config& config, const bundle::Process* process, Entrance entrance,
                   const Inheritance& inheritance, std::optional<linux::SeccompFilter> filter);

  bool exists() const { return process_ != nullptr; }

  /// Sets scheduler, I/O priority, CPU affinity, personality, memory policy, security labels,
  /// groups (P-21) and working directory, and finds HOME: all that needs privileges, a procfs or
  /// system calls that the filter may refuse.
  Result<void> set_attributes(linux::ProcfsOnDemand& procfs);

  /// Checks that the filter allows execve (LC-6). Sets close-on-exec for descriptors, rlimits,
  /// no_new_privs, umask, user and capabilities, loads the filter where it has a listener or
  /// no_new_privs is off, and finds the executable. Errors: those of find_executable(), among
  /// others.
  /// A filter that hands calls to an agent changes the calls by which `parent` talks.
  Result<void> restrict(linux::MessageSocket& parent);

  /// The system call by which this process sends after its filter was loaded: one that the filter
  /// hands to no agent.
  linux::SendBy send_by() const { return send_by_; }

  /// The program's environment: process.env with each name once, and HOME (P-5). Empty before
  /// set_attributes().
  const std::vector<std::string>& environment() const { return environment_; }

  /// Loads the filter if restrict() has not done so. Called last before an execve: by the processes
  /// of startContainer hooks, whose programs may come from the image, and by execute().
  Result<void> load_late_filter() const;

  /// The `place` of explain_exec() for the program and its hooks: "in the container", or "" where
  /// the filter could kill a process that looks at files.
  std::string_view place() const;

  /// Calls load_late_filter() and executes the program. Returns only with an error, to which
  /// explain_exec() adds the cause.
  ///
  /// After the filter was loaded, the process makes these system calls, which the profile has to
  /// allow, besides those of explain_exec(). With no_new_privs and no listener: execve alone.
  /// Without no_new_privs (restrict() then loads the filter while the process has CAP_SYS_ADMIN),
  /// or with a listener: prctl, setresgid, setresuid, capset, chdir, stat, access, sendmsg,
  /// recvmsg, poll, accept4, close, sendto, execve, and those that run startContainer hooks. Where
  /// an agent would get sendmsg, sendto or recvmsg: write and read.
  Result<void> execute();

 private:
  std::vector<std::string> build_environment() const;
  Result<void> set_groups(linux::ProcfsOnDemand& procfs) const;
  Result<void> enter_working_directory();
  Result<void> set_limits(const linux::MessageSocket& parent);
  Result<void> check_filter_allows_execve() const;
  Result<void> load_filter(linux::MessageSocket& parent);
  Result<linux::CapabilitySets> drop_bounding_set() const;
  Result<void> change_identity(const linux::CapabilitySets& sets) const;
  void own_standard_streams() const;

  const bundle::Config& config_;
  const bundle::Process* process_;
  Entrance entrance_;
  Inheritance inheritance_;
  std::optional<linux::SeccompFilter> filter_;
  linux::SendBy send_by_ = linux::SendBy::kSocketCall;
  bool retry_directory_ = false;
  std::vector<std::string> environment_;
  std::string executable_;
  std::unique_ptr<linux::ExecArguments> arguments_;
};

/// Joins a new session keyring that has the SELinux label of `process`.
Result<void> join_keyring(const bundle::Process& process, linux::ProcfsOnDemand& procfs);

/// Asks the parent for the compiled filter. Nothing where config.json has no seccomp profile.
Result<std::optional<linux::SeccompFilter>> receive_filter(const bundle::Config& config,
                                                           const linux::MessageSocket& parent);

}  // namespace ocirun::runtime
