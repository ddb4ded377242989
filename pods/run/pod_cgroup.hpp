#pragma once

#include <cstdint>
#include <string>

#include "cgroups/plan/resources.hpp"
#include "linux/base/error.hpp"
#include "pods/documents/pod.hpp"

namespace ocirun::pods {

/// "/ocirun/POD": the cgroup in which the cgroups of a pod's containers are.
std::string cgroup_path_for(const std::string& pod);

/// Errors: there are processes in the cgroup at `path` or below.
Result<void> check_unused(const std::string& path);

/// Makes the pod's cgroup in every hierarchy of the host and sets the limits of the whole pod.
/// Errors: processes are in it; those of Cgroup::create() and apply().
Result<void> make_pod_cgroup(const std::string& path, const Amounts& limits);

/// Kills what is left in the pod's cgroup and removes it with all that are in it. A missing cgroup
/// is no error.
Result<void> remove_pod_cgroup(const std::string& path);

/// The limits of a whole pod as limits of a cgroup.
cgroups::Resources resources_of(const Amounts& limits);

/// How many processes of the cgroup at `path` the kernel has killed for want of memory; 0 where
/// that cannot be found out.
std::uint64_t count_oom_kills(const std::string& path);

}  // namespace ocirun::pods
