#pragma once

// What a seccomp profile says of a system call, found without a filter: each rule is read by
// itself.

#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
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

/// Whether the architecture's call `number` is socketcall(2) or ipc(2) and `argument`, its first
/// one, makes it the call `name`.
inline bool is_behind(const std::string& name, std::uint32_t architecture, int number,
                      std::uint64_t argument) {
  const int code = ::seccomp_syscall_resolve_name_arch(architecture, name.c_str());
  if (number == ::seccomp_syscall_resolve_name_arch(architecture, "socketcall"))
    return code <= -101 && code >= -120 &&
           static_cast<std::uint32_t>(argument) == static_cast<std::uint32_t>(-code - 100);
  if (number == ::seccomp_syscall_resolve_name_arch(architecture, "ipc"))
    return code <= -201 && code >= -224 &&
           (argument & 0xFFFF) == static_cast<std::uint32_t>(-code - 200);
  return false;
}

/// The name of a number of the architecture; "" for a number that libseccomp does not know.
inline const std::string& own_name_of(std::uint32_t architecture, int number) {
  static std::map<std::pair<std::uint32_t, int>, std::string> names;
  const auto [place, is_new] = names.try_emplace({architecture, number});
  // libseccomp also takes numbers without MIPS' offset.
  const bool is_own = number >= ::seccomp_syscall_resolve_name_arch(architecture, "read") - 3;
  if (is_new && is_own) {
    const std::unique_ptr<char, decltype(&::free)> name(
        ::seccomp_syscall_resolve_num_arch(architecture, number), ::free);
    if (name) place->second = name.get();
  }
  return place->second;
}

/// What the rules that name one call say of it.
class Verdicts {
 public:
  explicit Verdicts(std::uint32_t default_answer) : answer_(default_answer) {}

  void add_unconditional(std::uint32_t answer) {
    if (!unconditional_) unconditional_ = answer;
  }
  void add_match(std::uint32_t answer) {
    if (!matched_ || linux::is_more_severe(answer, *matched_)) matched_ = answer;
  }
  bool has_unconditional() const { return unconditional_.has_value(); }
  std::uint32_t answer() const { return unconditional_.value_or(matched_.value_or(answer_)); }

 private:
  std::uint32_t answer_;
  std::optional<std::uint32_t> unconditional_;
  std::optional<std::uint32_t> matched_;
};

/// The answer that the profile's rules give to a call of the architecture.
inline std::uint32_t meaning(const linux::PreparedProfile& profile, std::uint32_t architecture,
                             const seccomp_data& call) {
  const std::uint64_t bits = linux::argument_width(architecture) == linux::ArgumentWidth::k64
                                 ? ~std::uint64_t{0}
                                 : 0xFFFFFFFF;
  const auto asks_nothing = [&](const linux::SeccompArgument& condition) {
    return condition.op == linux::SeccompOperator::kMaskedEqual && (condition.value & bits) == 0;
  };
  Verdicts itself(profile.default_answer);
  Verdicts behind(profile.default_answer);
  for (const linux::PreparedRule& rule : profile.rules)
    for (const std::string* pointer : rule.names) {
      const std::string& name = *pointer;
      if (rule.answer == profile.default_answer) continue;
      const bool is_itself =
          ::seccomp_syscall_resolve_name_arch(architecture, name.c_str()) == call.nr ||
          own_name_of(architecture, call.nr) == name;
      const bool is_hidden = is_behind(name, architecture, call.nr, call.args[0]);
      for (const auto& conditions : rule.alternatives) {
        const bool is_unconditional = std::ranges::all_of(conditions, asks_nothing);
        if (is_itself && is_unconditional) itself.add_unconditional(rule.answer);
        if (is_itself && std::ranges::all_of(conditions, [&](const auto& condition) {
              return is_met(condition, call.args[condition.index], bits);
            }))
          itself.add_match(rule.answer);
        if (is_hidden && is_unconditional) behind.add_unconditional(rule.answer);
        if (is_hidden && linux::is_more_severe(rule.answer, profile.default_answer))
          behind.add_match(rule.answer);
      }
    }
  if (!itself.has_unconditional() && behind.answer() != profile.default_answer)
    itself.add_match(behind.answer());
  return itself.answer();
}

}  // namespace ocirun::test
