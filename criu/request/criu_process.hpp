#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "cgroups/container/cgroup.hpp"
#include "criu/compare/host_mounts.hpp"
#include "criu/launch/criu_program.hpp"
#include "criu/request/options.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

/// The files and options that CRIU gets for a restore.
struct RestoreInput {
  const bundle::Config& config;
  const CriuSettings& settings;
  const linux::Procfs& procfs;
  const std::string& cgroup;  // the path of the container's cgroup, or ""
  const std::vector<OutsideMount>& outside;
  const std::string& prepared;  // from place_for_sources(); "": CRIU binds the sources itself
  bool has_read_only_host;
  const std::vector<linux::PinnedNamespace>& pinned;
  const cgroups::Cgroup::JoinHandles& join;
  bool ignores_cgroups;  // CRIU moves no process into a cgroup
  bool has_new_keyring;
  // References, because prepare_criu() opens both again in CRIU's mount namespace.
  UniqueFd &images, &work;
};

/// What CRIU reaches by paths of the host: `program`, which is CRIU itself, its configuration, the
/// root filesystem, the images and those of earlier pre-dumps, the work path, joined namespaces.
Result<std::vector<std::string>> paths_of_criu(const bundle::Config& config,
                                               const CriuSettings& settings, Fd images,
                                               const std::string& program);

/// The words for ocirun-criu. Errors: descriptors.json beside the images is damaged.
Result<std::vector<std::string>> words_for_restore(const RestoreInput& input,
                                                   std::string_view log_name);

/// Moves the process `pid`, which has a single thread, into the cgroup. `pid` 0: the caller.
Result<void> join_cgroup(const cgroups::Cgroup::JoinHandles& handles, int pid);

/// Runs in CRIU's process, and gives it a mount namespace of its own, so that all mounts end with
/// the process. Joins namespaces, and the cgroup if CRIU ignores cgroups, mounts the root
/// filesystem, the sources of mounts and the view of the images, and makes the host read-only.
Result<void> prepare_criu(const RestoreInput& input, linux::CriuLaunch& launch);

/// To be called in CRIU's process. Restored processes are children of CRIU, and inherit what CRIU
/// does not restore: the session keyring, the CPU affinity, the I/O priority, the NUMA policy, an
/// OOM score of 0, and, from versions of CRIU that do not know it, no_new_privs. So CRIU's process
/// gets what `create` would give, instead of what the caller of `restore` has. Errors name the
/// field of config.json.
Result<void> take_what_is_inherited(const bundle::Config& config, const linux::Procfs& procfs,
                                    bool has_new_keyring);

}  // namespace ocirun::runtime
