#pragma once

#include <string>
#include <string_view>

#include "linux/error.hpp"
#include "linux/unique_fd.hpp"

namespace ocirun::linux {

/// A procfs of our own: mounted detached, so that no mount of a container can cover any of its
/// files (runc CVE-2019-16884, CVE-2025-52881). Each file is opened beneath it without symlinks or
/// crossings.
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
  /// An O_PATH|O_CLOEXEC descriptor made a real one: opens /proc/self/fd/N with `flags` (the magic
  /// link is followed only after its directory was proven to be procfs).
  Result<UniqueFd> reopen(Fd descriptor, int flags) const;
  /// "/proc/self/fd/N"-style path of `descriptor`, for mount(2) alone (mount_legacy.cpp).

 private:
  explicit Procfs(UniqueFd root) : root_(std::move(root)) {}
  UniqueFd root_;
};

/// Field 22 of /proc/PID/stat (clock ticks since boot) and the state letter, read from the host's
/// procfs.
struct ProcessStat {
  char state = '?';
  unsigned long long start_time = 0;
};
/// Errors: ENOENT or ESRCH when there is no such process.
Result<ProcessStat> read_process_stat(int pid);

}  // namespace ocirun::linux
