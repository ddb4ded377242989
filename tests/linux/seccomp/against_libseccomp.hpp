#pragma once

// Compares a filter with libseccomp's own filter for the same profile.

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "linux/seccomp/compile.hpp"
#include "linux/seccomp/decision.hpp"
#include "linux/seccomp/libseccomp_program.hpp"
#include "linux/seccomp/newer.hpp"
#include "tests/linux/seccomp/bpf_interpreter.hpp"
#include "tests/linux/seccomp/profile_meaning.hpp"

namespace ocirun::test {

/// The architectures of libseccomp 2.5 whose byte order is this machine's, if that is little
/// endian.
inline constexpr std::uint32_t kComparedArchitectures[] = {
    SCMP_ARCH_X86_64,  SCMP_ARCH_X86,    SCMP_ARCH_X32,      SCMP_ARCH_ARM,
    SCMP_ARCH_AARCH64, SCMP_ARCH_MIPSEL, SCMP_ARCH_MIPSEL64, SCMP_ARCH_MIPSEL64N32,
    SCMP_ARCH_PPC64LE, SCMP_ARCH_RISCV64};

/// The rules of the profile, a line each.
inline std::string described(const linux::SeccompProfile& profile) {
  constexpr const char* kOperators[] = {"!=", "<", "<=", "==", ">=", ">", "masked =="};
  std::string text = fmt::format("default action {}", static_cast<int>(profile.default_action));
  for (const linux::SeccompRule& rule : profile.rules) {
    text += fmt::format("\n  {}: action {}", fmt::join(rule.names, ", "),
                        static_cast<int>(rule.action));
    for (const linux::SeccompArgument& argument : rule.arguments)
      text += fmt::format(", argument {} {} {:#x} ({:#x})", argument.index,
                          kOperators[static_cast<std::size_t>(argument.op)], argument.value,
                          argument.value_two);
  }
  return text;
}

inline std::uint32_t token_of(std::uint32_t architecture) {
  return architecture == SCMP_ARCH_X32 ? AUDIT_ARCH_X86_64 : architecture;
}

/// Values at and around each bound of the profile's conditions.
inline std::vector<std::uint64_t> interesting_values(const linux::SeccompProfile& profile) {
  std::set<std::uint64_t> values{0, 1, ~std::uint64_t{0}, 0xFFFFFFFF, 0x100000000};
  for (const linux::SeccompRule& rule : profile.rules)
    for (const linux::SeccompArgument& argument : rule.arguments)
      for (const std::uint64_t bound :
           {argument.value, argument.value_two, argument.value & argument.value_two,
            (argument.value_two & argument.value) | ~argument.value})
        for (const std::uint64_t value :
             {bound, bound - 1, bound + 1, bound ^ (std::uint64_t{1} << 32U), bound & 0xFFFFFFFF,
              bound + (std::uint64_t{1} << 32U), bound - (std::uint64_t{1} << 32U)})
          values.insert(value);
  return {values.begin(), values.end()};
}

/// The system call numbers to ask for: those that the profile names and their neighbours, the ends
/// of the numbers' ranges, and up to `all_below` every number.
inline std::set<std::uint32_t> interesting_numbers(const linux::Decisions& decisions,
                                                   std::uint32_t all_below) {
  std::set<std::uint32_t> numbers;
  for (const std::uint32_t base : {0U, 0x40000000U, 0x80000000U, 0xF0000U})
    for (std::uint32_t i = 0; i < 5; ++i) numbers.insert(base + i - 2);
  for (std::uint32_t number = 0; number < all_below; ++number) {
    numbers.insert(number);
    numbers.insert(0x40000000 | number);
  }
  for (const linux::Interval& interval : decisions.calls)
    for (std::uint32_t i = 0; i < 3; ++i) numbers.insert(interval.first + i - 1);
  return numbers;
}

/// Whether libseccomp 2.5 may answer a call that these rules are for otherwise than the rules say:
/// where an argument is compared by order (<, <=, >, >=) and a second time, its search among the
/// halves of the 64 bits goes wrong for some values.
inline bool may_mislead_libseccomp(const std::vector<const linux::PreparedRule*>& rules) {
  int compared[6] = {};
  bool by_order[6] = {};
  for (const linux::PreparedRule* rule : rules)
    for (const auto& conditions : rule->alternatives)
      for (const linux::SeccompArgument& condition : conditions) {
        ++compared[condition.index];
        if (condition.op != linux::SeccompOperator::kEqual &&
            condition.op != linux::SeccompOperator::kNotEqual &&
            condition.op != linux::SeccompOperator::kMaskedEqual)
          by_order[condition.index] = true;
      }
  for (std::size_t i = 0; i < 6; ++i)
    if (by_order[i] && compared[i] > 1) return true;
  return false;
}

/// The rules for a system call number.
inline std::vector<const linux::PreparedRule*> rules_for(const linux::PreparedProfile& profile,
                                                         std::uint32_t architecture, int number) {
  std::vector<const linux::PreparedRule*> found;
  for (const linux::PreparedRule& rule : profile.rules)
    for (const std::string& name : rule.names)
      if (::seccomp_syscall_resolve_name_rewrite(architecture, name.c_str()) == number)
        found.push_back(&rule);
  return found;
}

inline bool is_left_to_libseccomp(const linux::Decisions& decisions, std::uint32_t number) {
  for (const linux::Interval& interval : decisions.calls)
    if (interval.first == number) return interval.decision.left_to_libseccomp;
  return decisions.unnamed.left_to_libseccomp;
}

/// A sentence about the first call that ocirun's filter for `architecture` answers otherwise than
/// the rules say or, where they do not say, than libseccomp's filter does; nothing if there is no
/// such call. Each number is asked `tries` times with arguments near the profile's bounds.
inline std::optional<std::string> wrong_answer(const linux::SeccompProfile& profile,
                                               std::uint32_t architecture, std::uint32_t all_below,
                                               int tries, std::mt19937& random) {
  std::vector<std::string> warnings;
  auto prepared = linux::prepare(profile, warnings);
  if (!prepared) return {};
  const std::uint32_t architectures[] = {architecture};
  const auto ours = linux::compile_for(architectures, profile, *prepared);
  const auto decisions = linux::decide(architecture, *prepared);
  // libseccomp takes a rule with the default action for an error (S-10).
  std::erase_if(prepared->rules, [&](const linux::PreparedRule& rule) {
    return rule.answer == prepared->default_answer;
  });
  const auto theirs = linux::libseccomp_program(architecture, *prepared);
  // libseccomp finds contradictions between rules of which a third, unconditional one counts.
  if (!theirs) return {};
  if (!ours) return "only ours refuses the profile: " + ours.error().message();
  const auto left = linux::libseccomp_program(architecture, decisions->left_to_libseccomp);
  const auto newer = linux::newer_syscalls(profile, architecture, decisions->calls);
  const std::vector<std::uint64_t> values = interesting_values(profile);
  std::uniform_int_distribution<std::size_t> index(0, values.size() - 1);
  for (const std::uint32_t number : interesting_numbers(*decisions, all_below)) {
    const bool is_newer = std::ranges::any_of(newer, [&](const linux::Interval& range) {
      return range.first <= number && number <= range.last;
    });
    const bool is_left = is_left_to_libseccomp(*decisions, number);
    const bool is_misled =
        may_mislead_libseccomp(rules_for(*prepared, architecture, static_cast<int>(number)));
    for (int i = 0; i < tries; ++i) {
      seccomp_data call{};
      call.nr = static_cast<int>(number);
      call.arch = token_of(architecture);
      for (auto& argument : call.args) argument = values[index(random)];
      const std::uint32_t found = run_filter(*ours, call);
      std::uint32_t wanted = run_filter(*theirs, call);
      const char* whose = "libseccomp's";
      if (is_newer) {
        wanted = SECCOMP_RET_ERRNO | ENOSYS;
        whose = "the newer call's";
      } else if (is_misled && is_left) {
        wanted = run_filter(*left, call);
        whose = "libseccomp's filter's for the rules that are left to it";
      } else if (is_misled) {
        wanted = meaning(*prepared, architecture, call).value_or(wanted);
        whose = "the profile's";
      }
      if (found != wanted)
        return fmt::format(
            "architecture {:#x}, call {:#x}, arguments {:#x} {:#x} {:#x} {:#x} {:#x} {:#x}: {:#x} "
            "instead of {} {:#x}",
            architecture, number, call.args[0], call.args[1], call.args[2], call.args[3],
            call.args[4], call.args[5], found, whose, wanted);
    }
  }
  return {};
}

}  // namespace ocirun::test
