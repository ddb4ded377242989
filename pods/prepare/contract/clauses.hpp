#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bundle/config/config.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::pods {

/// The bundle that the clauses of the Knative runtime contract judge.
struct ContractSubject {
  const bundle::Config& config;
  std::optional<linux::SafeDir> root;  // the root filesystem, if it exists
  bool host_has_cgroup_v2_only = false;
};

enum class Verdict : std::uint8_t { kMet, kNotMet, kNotApplicable };

struct Judgement {
  Verdict verdict = Verdict::kNotApplicable;
  std::string reason;
};

inline Judgement met(std::string reason) { return {Verdict::kMet, std::move(reason)}; }
inline Judgement not_met(std::string reason) { return {Verdict::kNotMet, std::move(reason)}; }
inline Judgement not_applicable(std::string reason) {
  return {Verdict::kNotApplicable, std::move(reason)};
}

/// How binding a clause is: kMust for MUST and SHALL.
enum class Level : std::uint8_t { kMust, kShould, kMay };

/// A clause of the contract (docs/requirements.md, KN).
struct Clause {
  std::string_view id;  // "KN-7"
  Level level;
  std::string_view words;  // "/tmp can be written to"
  Judgement (*judge)(const ContractSubject&);
};

/// All clauses, in the order of the contract's chapters.
std::span<const Clause> contract_clauses();

std::string_view name_of(Level level);      // "MUST"
std::string_view name_of(Verdict verdict);  // "met", "not met", "not applicable"

/// Whether a mount has the option ro or rro.
bool is_read_only(const linux::Mount& mount);
/// Whether a mount shows cgroups: a cgroup filesystem, or a bind of the host's /sys/fs/cgroup.
bool is_cgroup_mount(const linux::Mount& mount);

// filesystem.cpp: the clauses about files and mounts.

Judgement judge_tmp(const ContractSubject& subject);             // KN-7
Judgement judge_var_log(const ContractSubject& subject);         // KN-8
Judgement judge_resolv_conf(const ContractSubject& subject);     // KN-9
Judgement judge_read_only_root(const ContractSubject& subject);  // KN-17
Judgement judge_cgroup_mount(const ContractSubject& subject);    // KN-18
Judgement judge_visible_limits(const ContractSubject& subject);  // KN-19
Judgement judge_runtime_access(const ContractSubject& subject);  // KN-20

}  // namespace ocirun::pods
