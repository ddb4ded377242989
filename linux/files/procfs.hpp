#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// A verified procfs. open() mounts a procfs of our own, detached, so that no mount of a container
/// can cover its files (runc CVE-2019-16884, CVE-2025-52881). Each file is opened below it without
/// following symlinks or crossing mounts. Where the kernel does not allow a mount of our own, and
/// for of_host(), the files are those of /proc, and each file is verified to lie on the same procfs
/// mount.
class Procfs {
 public:
  /// kProcesses: only /proc/PID (subset=pid). kFull: the sysctls too; open, use and close it within
  /// one scope.
  enum class Subset { kProcesses, kFull };

  /// Mounts the procfs of the caller's pid namespace with fsopen. Where the kernel refuses this,
  /// opens /proc with open_tree or open, and verifies that /proc is the root of a procfs
  /// (PROC_SUPER_MAGIC, inode 1). A mount that fsopen made needs no such check.
  static Result<Procfs> open(Subset subset);
  /// The procfs at /proc, verified as open() verifies /proc. Only for reading in the parent, before
  /// the parent enters any namespace of a container. Takes 1 us, where a mount takes about 50 us.
  static Result<Procfs> of_host();

  Fd fd() const { return root_; }

  /// Opens a file such as "sys/net/ipv4/ip_forward" or "self/attr/exec". "self" and "thread-self"
  /// are replaced by numbers here.
  Result<UniqueFd> open_file(std::string_view path, int flags) const;
  /// Writes `value` in one write(2); a short write is EIO.
  Result<void> write(std::string_view path, std::string_view value) const;
  /// Reads a whole file of at most 1 MiB.
  Result<std::string> read(std::string_view path) const;
  /// As read(), with one read(2) if the text is shorter than 4 KiB. Not for lists (mountinfo,
  /// uid_map): sys::read_value() says why.
  Result<std::string> read_value(std::string_view path) const;
  /// Opens the file of an O_PATH descriptor with `flags`, through /proc/self/fd/N. That magic link
  /// is followed only after it was verified to lie on the mount of its directory.
  Result<UniqueFd> reopen(Fd descriptor, int flags) const;
  /// The path of `descriptor` below the caller's root ("/a/b", "/a/b (deleted)").
  Result<std::string> path_of(Fd descriptor) const;

 private:
  enum class Origin { kOwnMount, kHost };
  Procfs(UniqueFd root, Origin origin) : root_(std::move(root)), origin_(origin) {}
  Result<std::string> without_self(std::string_view path) const;
  Result<UniqueFd> walk(const std::string& path, int flags) const;
  UniqueFd root_;
  Origin origin_;
};

/// A procfs that the first get() opens. To mount and unmount a procfs takes about 80 us, as long as
/// a hundred other system calls, and most processes of `exec` need no procfs.
class ProcfsOnDemand {
 public:
  ProcfsOnDemand() = default;
  /// Gives out `opened`, which must outlive this object.
  explicit ProcfsOnDemand(const Procfs& opened) : opened_(&opened) {}
  ProcfsOnDemand(const ProcfsOnDemand&) = delete;
  ProcfsOnDemand& operator=(const ProcfsOnDemand&) = delete;

  /// The given procfs, or one of Procfs::Subset::kProcesses that lives as long as this object.
  /// Never null. Errors: those of Procfs::open().
  Result<const Procfs*> get();

 private:
  const Procfs* opened_ = nullptr;  // the given procfs
  std::optional<Procfs> own_;
};

/// The part of `path` (absolute, clean) below a container's /proc: "" for /proc itself, nothing for
/// a path outside it.
std::optional<std::string_view> name_in_proc(std::string_view path);

/// "self/fd/N": the name of `descriptor` relative to a procfs as the working directory, for
/// mount(2) and chmod(2), which take no descriptor.
std::string fd_link(Fd descriptor);
/// "/proc/self/fd/N": the name of `descriptor` for calls that take only a name. Never used inside a
/// container.
std::string host_fd_link(Fd descriptor);
/// The text of the host's /proc/self/status; "" if the file cannot be read. Never used inside a
/// container.
std::string host_own_status();
/// The path of `descriptor` below the caller's root, by the host's /proc. Never used inside a
/// container.
Result<std::string> host_path_of(Fd descriptor);

/// VALUE of the line "NAME:\tVALUE" in `status`, the text of a /proc/PID/status.
std::optional<std::string_view> status_field(std::string_view status, std::string_view name);

/// The fields of /proc/PID/stat that ocirun uses. A zombie has them too.
struct ProcessStat {
  char state = '?';
  int parent = 0;                     // 0 where the parent is not visible
  unsigned long long start_time = 0;  // clock ticks since boot
  int threads = 0;
  bool has_executed = false;  // has called execve(2) since it was cloned
  bool is_exiting = false;    // its first thread releases memory, descriptors, namespaces
};
/// Parses the text of a /proc/PID/stat; nothing for any other text.
std::optional<ProcessStat> parse_process_stat(std::string_view text);
/// Reads /proc/PID/stat of the host. Errors: ENOENT when there is no such process (any more). Two
/// errors have a sentence of their own: hidepid hides the process, and /proc belongs to another pid
/// namespace.
Result<ProcessStat> read_process_stat(int pid);
/// For an `error` from opening a file of /proc/PID: if the process exists all the same (ENOENT,
/// EPERM, EACCES), returns an error about hidepid; otherwise `error` itself.
Error explain_hidden_process(int pid, Error error);
/// The file that the caller executes, as "DEVICE:INODE".
Result<std::string> own_image();

}  // namespace ocirun::linux
