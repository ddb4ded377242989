#pragma once

#include <cstdint>
#include <string>

#include "cgroups/container/cgroup.hpp"
#include "cgroups/plan/resources.hpp"
#include "cgroups/statistics/stats.hpp"
#include "linux/base/error.hpp"
#include "pods/documents/model/pod.hpp"
#include "pods/documents/workload.hpp"
#include "pods/prepare/plan/bundle.hpp"

namespace ocirun::pods {

/// The path of the cgroup of a pod, which has the cgroups of the containers: "/ocirun/POD". In a
/// user namespace, it is below the cgroup that is delegated to the caller; "" if none is delegated.
Result<std::string> cgroup_path_for(const std::string& pod);

/// Like cgroup_path_for(), for the supervisor of a service. If systemd has delegated the cgroup of
/// the service to the caller alone (Delegate=yes, cgroup v2), the path is below that cgroup. The
/// caller is then moved to another cgroup below it: leave_delegated_cgroup().
Result<std::string> settle_cgroup_for(const std::string& pod);

/// Refuses resource limits on a pod without a cgroup.
Result<void> check_unlimited(const Workload& workload, Requests requests);

/// Whether a container requests memory or processors.
bool has_requests(const Pod& pod);

/// Fails if there are processes in the cgroup at `path` or below.
Result<void> check_unused(const std::string& path);

/// Makes the cgroup of a pod in every hierarchy of the host, and sets the limits of the whole pod.
/// Errors: there are processes in the cgroup; those of Cgroup::create() and apply().
Result<void> make_pod_cgroup(const std::string& path, const Amounts& limits);

/// Makes a cgroup below the pod's, and opens it for joining. It is for a process of ocirun that
/// works for the pod, so that the limits of the pod include the process.
Result<cgroups::Cgroup::JoinHandles> make_helper_cgroup(const std::string& path);

/// Kills all processes in the pod's cgroup, and removes it with all cgroups below. Does nothing if
/// there is no such cgroup.
Result<void> remove_pod_cgroup(const std::string& path);

/// Converts the limits of a whole pod to those of a cgroup.
cgroups::Resources resources_of(const Amounts& limits);

/// How many processes of the cgroup at `path` the kernel has killed for lack of memory; 0 if that
/// is not known.
std::uint64_t count_oom_kills(const std::string& path);

/// The kernel's counters for the cgroup at `path`. Errors: there is no such cgroup.
Result<cgroups::Stats> read_cgroup_stats(const std::string& path);

/// Watches for a lack of memory in the cgroup at `path`. Errors: the cgroup has no memory
/// controller.
Result<cgroups::OomWatch> watch_oom(const std::string& path);

// With --systemd-cgroup, the cgroup of a pod is a slice of systemd, and each container is a scope
// in the slice.

/// The name of a pod's slice, "ocirun-POD.slice". Escapes a dash in the name of the pod, because
/// systemd puts a slice "a-b" into the slice "a".
std::string slice_name_for(const std::string& pod);

/// The cgroupsPath of the container `id` ("POD.CONTAINER") in a slice.
std::string cgroups_path_in(const std::string& slice, const std::string& id);
/// The scope that cgroups_path_in() names: "ocirun-POD.CONTAINER.scope".
std::string scope_name_for(const std::string& id);

/// Looks up, without creating it, the cgroup of a slice. Errors: those of Slice::find().
Result<std::string> find_pod_slice(const std::string& slice);

/// Starts the slice with the cgroup `path`, with the limits of the whole pod. Errors: those of
/// Slice::create().
Result<void> make_pod_slice(const std::string& path, const std::string& pod, const Amounts& limits);

/// Kills all processes in the slice with the cgroup `path`, and removes the slice. Does nothing if
/// there is no such slice.
Result<void> remove_pod_slice(const std::string& path);

}  // namespace ocirun::pods
