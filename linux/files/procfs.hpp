#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// A procfs of our own: mounted detached, so that no mount of a container can cover any of its
/// files (runc CVE-2019-16884, CVE-2025-52881). Each file is opened beneath it without symlinks or
/// crossings. Where the kernel grants no mount of our own, the same files of /proc, each proven to
/// lie on one and the same procfs mount.
class Procfs {
 public:
  /// kProcesses has /proc/PID only (subset=pid); kFull has sysctls too: open, use, close in one
  /// scope.
  enum class Subset { kProcesses, kFull };

  /// fsopen("proc") of the caller's pid namespace; open_tree(/proc) or /proc where that is refused.
  /// Verified: PROC_SUPER_MAGIC and inode 1.
  static Result<Procfs> open(Subset subset);

  Fd fd() const { return root_; }

  /// Opens a file, "sys/net/ipv4/ip_forward" or "self/attr/exec". "self" and "thread-self" are
  /// resolved here.
  Result<UniqueFd> open_file(std::string_view path, int flags) const;
  /// Writes `value` in one write(2); a short write is EIO.
  Result<void> write(std::string_view path, std::string_view value) const;
  /// At most 1 MiB.
  Result<std::string> read(std::string_view path) const;
  /// An O_PATH descriptor made a real one: opens /proc/self/fd/N with `flags` (the magic link is
  /// followed only after it was proven to lie on the mount of its directory).
  Result<UniqueFd> reopen(Fd descriptor, int flags) const;
  /// Where `descriptor` is, as the caller's root sees it ("/a/b", "/a/b (deleted)").
  Result<std::string> path_of(Fd descriptor) const;

 private:
  enum class Origin { kOwnMount, kHost };
  Procfs(UniqueFd root, Origin origin) : root_(std::move(root)), origin_(origin) {}
  Result<std::string> without_self(std::string_view path) const;
  Result<UniqueFd> walk(const std::string& path, int flags) const;
  UniqueFd root_;
  Origin origin_;
};

/// What `path` (absolute, clean) names below a container's /proc: "" for /proc itself, nothing for
/// a path elsewhere.
std::optional<std::string_view> name_in_proc(std::string_view path);

/// "self/fd/N": the name of `descriptor` below a procfs that is the working directory, for mount(2)
/// and chmod(2), which take no descriptor.
std::string fd_link(Fd descriptor);
/// The same below the caller's /proc, for calls that take a name only. Never inside a
/// container.
std::string host_fd_link(Fd descriptor);

/// Of /proc/PID/stat, read from the host's procfs; a zombie has them too.
struct ProcessStat {
  char state = '?';
  int parent = 0;                     // 0 where it is not visible
  unsigned long long start_time = 0;  // clock ticks since boot
  int threads = 0;
  bool has_executed = false;  // execve(2) since it was cloned
  bool is_exiting = false;    // its first thread gives back memory, descriptors, namespaces
};
/// Nothing for what is no such text.
std::optional<ProcessStat> parse_process_stat(std::string_view text);
/// Errors: ENOENT or ESRCH when there is no such process; one that hidepid hides is told.
Result<ProcessStat> read_process_stat(int pid);
/// For `error`, with which a file of /proc/PID could not be opened: a sentence about hidepid where
/// the process is there all the same (ENOENT, EPERM, EACCES); else `error` itself.
Error explain_hidden_process(int pid, Error error);
/// Which file process `pid` executes, as "DEVICE:INODE"; the caller needs the right to trace it.
Result<std::string> image_of(int pid);

}  // namespace ocirun::linux
