#pragma once

#include <cstdint>
#include <string>

#include "cgroups/container/cgroup.hpp"
#include "cgroups/plan/resources.hpp"
#include "linux/base/error.hpp"
#include "pods/documents/workload.hpp"
#include "pods/model/pod.hpp"
#include "pods/prepare/given.hpp"

namespace ocirun::pods {

/// The cgroup in which the cgroups of a pod's containers are: "/ocirun/POD"; in a user namespace
/// below the cgroup that is delegated to the caller. "": none is delegated.
Result<std::string> cgroup_path_for(const std::string& pod);

/// For a pod without a cgroup. Errors: it has limits, which only a cgroup can keep.
Result<void> check_unlimited(const Workload& workload, const Given& given);

/// Whether a container requests memory or processors.
bool has_requests(const Pod& pod);

/// Errors: there are processes in the cgroup at `path` or below.
Result<void> check_unused(const std::string& path);

/// Makes the pod's cgroup in every hierarchy of the host and sets the limits of the whole pod.
/// Errors: processes are in it; those of Cgroup::create() and apply().
Result<void> make_pod_cgroup(const std::string& path, const Amounts& limits);

/// Makes a cgroup below a pod's for a process of ocirun's own that works for the pod, so that the
/// pod's limits include it, and opens the cgroup for joining.
Result<cgroups::Cgroup::JoinHandles> make_helper_cgroup(const std::string& path);

/// Kills what is left in the pod's cgroup and removes it with all that are in it. A missing cgroup
/// is no error.
Result<void> remove_pod_cgroup(const std::string& path);

/// The limits of a whole pod as limits of a cgroup.
cgroups::Resources resources_of(const Amounts& limits);

/// How many processes of the cgroup at `path` the kernel has killed for want of memory; 0 where
/// that cannot be found out.
std::uint64_t count_oom_kills(const std::string& path);

/// A watch for want of memory in the cgroup at `path`. Errors: no memory controller counts for it.
Result<cgroups::OomWatch> watch_oom(const std::string& path);

// With --systemd-cgroup, the cgroup of a pod is a slice of systemd's, in which each container is a
// scope.

/// "ocirun-POD.slice"; a dash in the name of the pod is escaped, because a slice "a-b" would be in
/// the slice "a".
std::string slice_name_for(const std::string& pod);

/// The cgroupsPath of the container `id` ("POD.CONTAINER") in a slice.
std::string cgroups_path_in(const std::string& slice, const std::string& id);
/// The scope that cgroups_path_in() names: "ocirun-POD.CONTAINER.scope".
std::string scope_name_for(const std::string& id);

/// The cgroup of a slice. Makes nothing. Errors: those of Slice::find().
Result<std::string> find_pod_slice(const std::string& slice);

/// Starts the slice with the cgroup `path`, with the limits of the whole pod. Errors: those of
/// Slice::create().
Result<void> make_pod_slice(const std::string& path, const std::string& pod, const Amounts& limits);

/// Kills what is left in the slice with the cgroup `path`, and removes the slice. A missing slice
/// is no error.
Result<void> remove_pod_slice(const std::string& path);

}  // namespace ocirun::pods
