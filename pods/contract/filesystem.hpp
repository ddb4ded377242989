#pragma once

#include "pods/contract/clauses.hpp"

namespace ocirun::pods {

// The clauses about files and mounts.

Judgement judge_tmp(const ContractSubject& subject);             // KN-7
Judgement judge_var_log(const ContractSubject& subject);         // KN-8
Judgement judge_resolv_conf(const ContractSubject& subject);     // KN-9
Judgement judge_read_only_root(const ContractSubject& subject);  // KN-17
Judgement judge_cgroup_mount(const ContractSubject& subject);    // KN-18
Judgement judge_visible_limits(const ContractSubject& subject);  // KN-19
Judgement judge_runtime_access(const ContractSubject& subject);  // KN-20

}  // namespace ocirun::pods
