#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

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

/// Whether /process/capabilities/bounding has `capability`.
bool has_in_bounding_set(const bundle::Config& config, unsigned capability);

/// Compares a thread with the document. Its bounding set lies within the bounding set of the
/// document, and each other set within the union of the document's sets. It has a filter if the
/// document has a profile, and no_new_privs if the document asks for that. Without CAP_SETGID in
/// the union, its supplementary groups are the document's. With no_new_privs, its user ids are the
/// document's unless the union has CAP_SETUID, and its group ids unless the union has CAP_SETGID.
/// Errors: a sentence that names what differs.
Result<void> compare_thread(const ThreadStatus& thread, const bundle::Config& config);

/// Compares what the security modules call process `pid` with /process/apparmorProfile and
/// /process/selinuxLabel, if the document has these. Errors: a sentence that names the difference.
Result<void> compare_labels(const linux::Procfs& procfs, int pid, const bundle::Process& process);

}  // namespace ocirun::runtime
