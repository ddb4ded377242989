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
  std::vector<std::uint32_t> uids, gids;  // real, effective, saved, file system
  std::vector<std::uint32_t> groups;      // supplementary
  linux::CapabilitySets capabilities;
  bool no_new_privileges = false;
  int seccomp_mode = 0;  // 2: filters
};
/// Errors: a field is missing, as on kernels before 4.10.
Result<ThreadStatus> parse_thread_status(std::string_view text);

/// Whether the document gives `capability` to what the container's processes can ever have.
bool has_in_bounding_set(const bundle::Config& config, unsigned capability);

/// Compares a thread with the document. Its capabilities lie within the sets of the document. It
/// has a filter if the document has a profile, and no_new_privs if the document asks for that.
/// Without CAP_SETGID, its supplementary groups are the document's. With no_new_privs and without
/// CAP_SETUID or CAP_SETGID, its user or group ids are the document's. Errors: a sentence that
/// names what differs.
Result<void> compare_thread(const ThreadStatus& thread, const bundle::Config& config);

/// What the restored processes are compared with.
struct Expectation {
  const bundle::Config& config;
  const bundle::ContainerRecord& record;
  const linux::Procfs& procfs;  // the runtime's
  const std::vector<linux::PinnedNamespace>& pinned;
};
/// Compares all processes of the tree below `init` while they are stopped: namespaces, cgroups,
/// labels of security modules, compare_thread() for each thread; then the mounts and roots by
/// compare_mounts(). A zombie has none of these and is passed over. The images might have been
/// written by anybody, and CRIU restores what they say. Not compared: memory, open files, the text
/// of filters, resource limits, what is mounted in mount namespaces that the container made itself.
/// Errors: a sentence that names the process and what differs.
Result<void> compare_restored(const Expectation& expected, int init);

}  // namespace ocirun::runtime
