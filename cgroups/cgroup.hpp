#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cgroups/resources.hpp"
#include "linux/error.hpp"
#include "linux/paths.hpp"
#include "linux/unique_fd.hpp"

namespace ocirun::cgroups {

/// How this host mounts cgroups; read from mountinfo, never from a directory listing.
struct Hierarchy {
  HostPath mount_point;  // where the hierarchy is mounted
  std::string root;      // the part of it that is mounted there ("/" or a namespace's "/..")
  std::vector<std::string>
      controllers;  // v1: "cpu", "cpuacct"; "name=systemd"; empty for the unified one
  bool unified = false;
  std::string own_path;  // the runtime's own cgroup in it (/proc/self/cgroup)
};
struct Layout {
  std::vector<Hierarchy> hierarchies;
  bool pure_v2() const;  // only the unified hierarchy is mounted
};
Result<Layout> read_layout();

/// Where a container's cgroup is to be (R-1 … R-4).
struct Placement {
  std::string path;  // below each hierarchy's mount, absolute, without ".."
};
/// `cgroups_path` absolute: that path; relative: below the parent ("/ocirun" by default, below the
/// runtime's own cgroup where the host's root is not ours); absent: /ocirun/<id>. Errors: "..".
Result<Placement> place(const Layout& layout, const std::optional<std::string>& cgroups_path,
                        const std::string& id);

/// What has to be known to find a container's cgroup again: kept in intent and state.
struct Record {
  std::string path;  // the placement
  std::vector<std::pair<std::string, std::string>>
      directories;  // controllers ("cpu,cpuacct", "name=systemd", "" for unified), host directory
  std::vector<std::string>
      created_parents;  // directories that create() made above them, deepest first
  friend bool operator==(const Record&, const Record&) = default;
};

enum class FreezerState { kThawed, kFrozen };

struct Stats;  // stats.hpp

/// The cgroup of one container in every hierarchy of the host.
class Cgroup {
 public:
  virtual ~Cgroup() = default;

  /// Makes the directories, empty cpuset files inherited (v1), controllers enabled (v2). Errors:
  /// the cgroup holds processes or is frozen (R-5): "container's cgroup is not empty", "container's
  /// cgroup unexpectedly frozen". What it made is undone on error.
  virtual Result<void> create() = 0;
  /// Descriptors for the process that joins: v1: each hierarchy's `tasks` (the joiner writes "0":
  /// no RCU wait, performance.md); v2: the directory for CLONE_INTO_CGROUP.
  struct JoinHandles {
    std::vector<UniqueFd> tasks;
    UniqueFd unified_directory;  // empty where the unified hierarchy is not mounted
  };
  virtual Result<JoinHandles> open_for_join() const = 0;
  /// Moves another process in (slow path: kernels without CLONE_INTO_CGROUP).
  virtual Result<void> attach(int pid) const = 0;
  /// Applies what `resources` holds, in the order the kernel wants. Errors name /linux/resources/…
  /// and the file.
  virtual Result<void> apply(const Resources& resources) = 0;
  virtual Result<void> freeze(FreezerState state) = 0;  // waits a bounded time (10 s)
  virtual Result<FreezerState> freezer_state() const = 0;
  /// Signals every process in it and below, in a loop for SIGKILL until none is new; frozen ones
  /// are thawed after SIGKILL.
  virtual Result<void> signal_all(int signal) = 0;
  /// All pids in it and below, as the caller's pid namespace sees them.
  virtual Result<std::vector<int>> pids() const = 0;
  virtual Result<Stats> stats() const = 0;
  /// Kills what is left in it, then removes it with all nested cgroups, retried for a bounded time
  /// (10 s) while the kernel says EBUSY; and the parents that create() made, where empty. Missing
  /// is no error.
  virtual Result<void> destroy() = 0;
  virtual const Record& record() const = 0;
};

/// v1, hybrid or v2, as the layout says.
Result<std::unique_ptr<Cgroup>> make_cgroup(const Layout& layout, const Placement& placement);
/// The same from what a state file remembers: nothing of it is re-derived.
Result<std::unique_ptr<Cgroup>> open_cgroup(Record record);
/// `--cgroup-manager=disabled`: every operation does nothing; the process stays where it is.
std::unique_ptr<Cgroup> disabled_cgroup();

}  // namespace ocirun::cgroups
