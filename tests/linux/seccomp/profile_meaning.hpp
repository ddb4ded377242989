#pragma once

// What a seccomp profile says of a system call, found without a filter: each rule is read by
// itself.

#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "linux/seccomp/compile.hpp"
#include "linux/seccomp/decision.hpp"

namespace ocirun::test {

/// Whether the argument of a call meets the condition. `bits` are the bits of an argument that the
/// call's architecture has.
inline bool is_met(const linux::SeccompArgument& condition, std::uint64_t argument,
                   std::uint64_t bits) {
  const std::uint64_t found = argument & bits;
  const std::uint64_t value = condition.value & bits;
  switch (condition.op) {
    case linux::SeccompOperator::kNotEqual:
      return found != value;
    case linux::SeccompOperator::kLess:
      return found < value;
    case linux::SeccompOperator::kLessEqual:
      return found <= value;
    case linux::SeccompOperator::kEqual:
      return found == value;
    case linux::SeccompOperator::kGreaterEqual:
      return found >= value;
    case linux::SeccompOperator::kGreater:
      return found > value;
    case linux::SeccompOperator::kMaskedEqual:
      return (found & value) == (condition.value_two & value);
  }
  return false;
}

/// The answer that the profile's rules give to a call; nothing where two rules that match the call
/// disagree.
inline std::optional<std::uint32_t> meaning(const linux::PreparedProfile& profile,
                                            std::uint32_t architecture, const seccomp_data& call) {
  const std::uint64_t bits = linux::argument_width(architecture) == linux::ArgumentWidth::k64
                                 ? ~std::uint64_t{0}
                                 : 0xFFFFFFFF;
  std::set<std::uint32_t> answers;
  for (const linux::PreparedRule& rule : profile.rules)
    for (const std::string& name : rule.names) {
      const bool is_call =
          ::seccomp_syscall_resolve_name_arch(architecture, name.c_str()) == call.nr;
      if (!is_call) continue;
      for (const auto& conditions : rule.alternatives) {
        const bool is_unconditional =
            std::ranges::all_of(conditions, [&](const linux::SeccompArgument& condition) {
              return condition.op == linux::SeccompOperator::kMaskedEqual &&
                     (condition.value & bits) == 0;
            });
        if (is_unconditional) return rule.answer;
        if (std::ranges::all_of(conditions, [&](const linux::SeccompArgument& condition) {
              return is_met(condition, call.args[condition.index], bits);
            }))
          answers.insert(rule.answer);
      }
    }
  if (answers.size() > 1) return {};
  return answers.empty() ? profile.default_answer : *answers.begin();
}

}  // namespace ocirun::test
