#pragma once

#include <string>

#include "linux/base/error.hpp"
#include "pods/model/pod.hpp"

namespace ocirun::pods {

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
