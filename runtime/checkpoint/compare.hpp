#pragma once

#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

/// What of a thread is compared: fields of /proc/PID/task/TID/status.
struct ThreadStatus {
  std::vector<std::uint32_t> uids, gids;  // real, effective, saved, file system; of the host
  linux::CapabilitySets capabilities;
  bool no_new_privileges = false;
  int seccomp_mode = 0;  // 2: filters
};
/// Errors: a field is missing, as on kernels before 4.10.
Result<ThreadStatus> parse_thread_status(std::string_view text);

/// Compares a thread with the document: its capabilities lie within the sets of the document, it
/// has a filter if the document has a profile, and no_new_privs if the document asks for that. With
/// no_new_privs a process without CAP_SETUID or CAP_SETGID cannot change its ids, so that they must
/// be those of the document. Errors: a sentence that names what differs.
Result<void> compare_thread(const ThreadStatus& thread, const bundle::Config& config);

/// What the restored processes are compared with.
struct Expectation {
  const bundle::Config& config;
  const bundle::ContainerRecord& record;
  const linux::Procfs& procfs;  // the runtime's
  const std::vector<linux::PinnedNamespace>& pinned;
};
/// Compares all processes and threads of the tree below `init`, while they are stopped: namespaces,
/// id maps, cgroups, LSM profile, root directory, mounts, and compare_thread(). The images might
/// have been written by anybody, and CRIU restores what they say. Errors: a sentence that names the
/// process and what differs.
Result<void> compare_restored(const Expectation& expected, int init);

}  // namespace ocirun::runtime
