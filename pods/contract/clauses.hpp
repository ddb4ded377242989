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

/// What the clauses of the Knative runtime contract are asked about.
struct ContractSubject {
  const bundle::Config& config;
  std::optional<linux::SafeDir> root;  // the root filesystem, if it is there
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

/// A clause of the contract (matrix §5.3).
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

}  // namespace ocirun::pods
