#pragma once

#include "pods/contract/clauses.hpp"

namespace ocirun::pods {

/// Whether a mount has the option ro or rro.
bool is_read_only(const linux::Mount& mount);
/// Whether a mount shows cgroups: a cgroup filesystem, or a bind of the host's /sys/fs/cgroup.
bool is_cgroup_mount(const linux::Mount& mount);

// The clauses about files and mounts.

Judgement judge_tmp(const ContractSubject& subject);             // KN-7
Judgement judge_var_log(const ContractSubject& subject);         // KN-8
Judgement judge_resolv_conf(const ContractSubject& subject);     // KN-9
Judgement judge_read_only_root(const ContractSubject& subject);  // KN-17
Judgement judge_cgroup_mount(const ContractSubject& subject);    // KN-18
Judgement judge_visible_limits(const ContractSubject& subject);  // KN-19
Judgement judge_runtime_access(const ContractSubject& subject);  // KN-20

}  // namespace ocirun::pods
