#pragma once

#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
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
  Fd images;
};
/// Compares the restored processes `pids` while they are stopped: namespaces, cgroups, labels of
/// security modules, compare_limits(), compare_thread() for each thread; then the maps of the user
/// namespace, the root of the cgroup namespace, the mounts and roots by compare_mounts(), and
/// compare_files(). A zombie has none of these and is passed over. The images might have been
/// written by anybody, and CRIU restores what they say. Not compared: memory, open files, the text
/// of filters. Errors: a sentence that names the process and what differs.
Result<void> compare_restored(const Expectation& expected, int init, const std::vector<int>& pids);

}  // namespace ocirun::runtime
