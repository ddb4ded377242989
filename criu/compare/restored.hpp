#pragma once

#include <span>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "criu/dump/images.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

/// What the restored processes are compared with.
struct Expectation {
  const bundle::Config& config;
  const bundle::ContainerRecord& record;
  const linux::Procfs& procfs;  // the runtime's
  const std::vector<linux::PinnedNamespace>& pinned;
  std::span<const Fd> streams;  // files of the host that the processes may have open
  const Images& images;
};

/// Compares the processes `pids` with config.json while CRIU holds them. Images may be forged, and
/// CRIU restores what they say. For each process: namespaces, cgroups, labels of security modules,
/// compare_limits(). For each thread: compare_thread(), compare_scheduling(). For all of them:
/// compare_id_maps(), compare_cgroup_root(), compare_mounts(), compare_files(). Zombies have none
/// of these and are passed over. Not compared: memory, the text of seccomp filters, other
/// properties of open files. Errors: a sentence that names the process and the difference.
Result<void> compare_restored(const Expectation& expected, int init, const std::vector<int>& pids);

}  // namespace ocirun::runtime
