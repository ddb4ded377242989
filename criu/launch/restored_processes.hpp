#pragma once

#include <vector>

#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {

/// The pids of all processes that CRIU has restored, while CRIU holds them: `init`, the processes
/// below it, and all others with the tracer of `init`. The tracer finds orphans that the host's
/// init has adopted, which are not below `init`. Without a tracer of `init`, only its tree is
/// returned. Zombies have no tracer; those outside of the tree are left out. Errors: there are more
/// than a million; a process of the tree cannot be read.
Result<std::vector<int>> restored_processes(const Procfs& procfs, int init);

/// Kills `init` and the other processes of restored_processes(). They must be stopped, so that none
/// can escape, and no pid can be reused. If not all can be found, kills those that were found.
void kill_restored(const Procfs& procfs, int init);

/// The processes that CRIU makes. While this lives, orphans of CRIU become children of this
/// process.
class CriuProcesses {
 public:
  explicit CriuProcesses(const Procfs& procfs);
  CriuProcesses(const CriuProcesses&) = delete;
  CriuProcesses& operator=(const CriuProcesses&) = delete;
  ~CriuProcesses();

  /// Kills all processes below this one, which CRIU has left when it failed. Spares the children
  /// that this process had before, such as those of a shell that has executed ocirun, and what is
  /// below them.
  void kill() const;

 private:
  const Procfs& procfs_;
  std::vector<int> spared_;
};

}  // namespace ocirun::linux
