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
#include "runtime/base/inheritance.hpp"

namespace ocirun::runtime {

/// How a process comes into the container, which a few of its properties depend on.
enum class Entrance { kInit, kExec };

/// The calling process on its way to what `process` describes: the same for a container's first
/// process and for one that `exec` adds. Single-threaded; call the steps in the order of their
/// declaration, inside the container's root.
class ContainerProcess {
 public:
  /// `process` absent (P-1): exists() is false and there is nothing to do. `filter` is compiled
  /// already.
  ContainerProcess(const bundle::Config& config, const bundle::Process* process, Entrance entrance,
                   const Inheritance& inheritance, std::optional<linux::SeccompFilter> filter);

  bool exists() const { return process_ != nullptr; }

  /// Scheduler, I/O priority, CPU affinity, personality, memory policy, security labels, groups
  /// (P-21), working directory, HOME: what wants privileges, a procfs or system calls that a filter
  /// may refuse.
  Result<void> set_attributes(const linux::Procfs& procfs);

  /// Descriptors close-on-exec, rlimits, no_new_privs, umask, the filter (now, without no_new_privs
  /// or with a listener), user, capabilities, the executable found. Errors: as in
  /// find_executable(), among others.
  Result<void> restrict(const linux::MessageSocket& parent);

  /// What the program will get: process.env, each name once, with HOME (P-5). Empty before
  /// set_attributes().
  const std::vector<std::string>& environment() const { return environment_; }

  /// Loads the filter into the calling process, where restrict() has left that to the last moment
  /// before an execve: for the hooks' processes, whose programs may be the image's, and by
  /// execute().
  Result<void> load_late_filter() const;

  /// Where the program and its hooks are looked for, as explain_exec() takes it: "in the
  /// container"; "" where the filter could end a process that looks at files.
  std::string_view place() const;

  /// load_late_filter(), then the program. Returns only an error, with what explain_exec() adds.
  ///
  /// System calls after the filter, explain_exec()'s aside: with no_new_privs: execve. Without
  /// (CAP_SYS_ADMIN is needed to load it, so it comes before the capabilities go) and with a
  /// listener: prctl, setresgid, setresuid, capset, chdir, stat, access, sendmsg, recvmsg, poll,
  /// accept4, close, sendto, execve, and what it takes to run startContainer hooks.
  Result<void> execute();

 private:
  std::vector<std::string> build_environment() const;
  Result<void> set_groups(const linux::Procfs& procfs) const;
  Result<void> enter_working_directory();
  Result<void> set_limits(const linux::MessageSocket& parent);
  Result<void> check_filter_allows_execve() const;
  Result<void> load_filter(const linux::MessageSocket& parent);
  Result<linux::CapabilitySets> drop_bounding_set() const;
  Result<void> change_identity(const linux::CapabilitySets& sets) const;
  void own_standard_streams() const;

  const bundle::Config& config_;
  const bundle::Process* process_;
  Entrance entrance_;
  Inheritance inheritance_;
  std::optional<linux::SeccompFilter> filter_;
  bool retry_directory_ = false;
  std::vector<std::string> environment_;
  std::string executable_;
  std::unique_ptr<linux::ExecArguments> arguments_;
};

/// A session keyring of the process's own, with its label.
Result<void> join_keyring(const bundle::Process& process, const linux::Procfs& procfs);

/// The filter that init asks the parent for; nothing when the config has none.
Result<std::optional<linux::SeccompFilter>> receive_filter(const bundle::Config& config,
                                                           const linux::MessageSocket& parent);
/// A filter as bytes (flags, whether it has a listener, the program) and back: it crosses the
/// socket, and waits in the state directory for `exec`.
std::string filter_bytes(const linux::SeccompFilter& filter);
Result<linux::SeccompFilter> parse_filter_bytes(std::string_view bytes);

}  // namespace ocirun::runtime
