#pragma once

// Compares a filter with what the profile's rules say, and with libseccomp's own filter.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "linux/seccomp/compile.hpp"
#include "linux/seccomp/decision.hpp"
#include "linux/seccomp/program.hpp"
#include "tests/linux/seccomp/asked_calls.hpp"
#include "tests/linux/seccomp/bpf_interpreter.hpp"
#include "tests/linux/seccomp/libseccomp_program.hpp"
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

/// The rules for a system call number.
inline std::vector<const linux::PreparedRule*> rules_for(const linux::PreparedProfile& profile,
                                                         std::uint32_t architecture, int number) {
  std::vector<const linux::PreparedRule*> found;
  for (const linux::PreparedRule& rule : profile.rules)
    for (const std::string* name : rule.names)
      if (::seccomp_syscall_resolve_name_rewrite(architecture, name->c_str()) == number ||
          own_name_of(architecture, number) == *name)
        found.push_back(&rule);
  return found;
}

/// Whether libseccomp 2.5 answers a call that these rules are for by the rules. It does not where
/// rules have different actions: it may give an action that no matching rule has. Nor where an
/// argument is compared by order (<, <=, >, >=) and a second time: its search among the halves of
/// the 64 bits goes wrong for some values. Behind socketcall and ipc it compares the wrong
/// arguments.
inline bool libseccomp_understands(const std::vector<const linux::PreparedRule*>& rules,
                                   std::uint32_t architecture, const seccomp_data& call) {
  int compared[6] = {};
  bool by_order[6] = {};
  for (const linux::PreparedRule* rule : rules) {
    if (rule->answer != rules.front()->answer) return false;
    for (const auto& conditions : rule->alternatives)
      for (const linux::SeccompArgument& condition : conditions) {
        ++compared[condition.index];
        if (condition.op != linux::SeccompOperator::kEqual &&
            condition.op != linux::SeccompOperator::kNotEqual &&
            condition.op != linux::SeccompOperator::kMaskedEqual)
          by_order[condition.index] = true;
      }
  }
  for (std::size_t i = 0; i < 6; ++i)
    if (by_order[i] && compared[i] > 1) return false;
  const bool is_multiplexer =
      call.nr == ::seccomp_syscall_resolve_name_arch(architecture, "socketcall") ||
      call.nr == ::seccomp_syscall_resolve_name_arch(architecture, "ipc");
  const bool has_conditions = std::ranges::any_of(compared, [](int count) { return count > 0; });
  return !is_multiplexer || (!has_conditions && call.args[0] <= 0xFFFF);
}

/// What is compared, and how thoroughly.
struct Comparison {
  std::uint32_t architecture = 0;
  std::span<const std::uint32_t> compiled_for = {};  // the filter's architectures; empty: that one
  std::uint32_t all_below = 0;                       // asks every system call number below
  int tries = 8;                                     // for each number, with values near the bounds
  bool asks_libseccomp = true;  // libseccomp 2.5 loops without end on some profiles
};

/// Which system calls of its token are the architecture's own: x86-64 and x32 share a token.
inline bool is_own_number(const Comparison& comparison, std::uint32_t number) {
  const auto has = [&](std::uint32_t architecture) {
    return std::ranges::find(comparison.compiled_for, architecture) !=
           comparison.compiled_for.end();
  };
  const bool is_x32 = number >= linux::kX32Bit;
  if (comparison.architecture == SCMP_ARCH_X86_64) return !is_x32 || !has(SCMP_ARCH_X32);
  if (comparison.architecture == SCMP_ARCH_X32) return is_x32 || !has(SCMP_ARCH_X86_64);
  return true;
}

/// The answer to a number of the other one of x86-64 and x32, where the filter has one of the two.
inline std::optional<std::uint32_t> answer_to_absent(std::uint32_t architecture,
                                                     std::uint32_t number,
                                                     std::uint32_t default_answer) {
  if (architecture == SCMP_ARCH_X32 && number < linux::kX32Bit) return SECCOMP_RET_KILL_THREAD;
  if (architecture != SCMP_ARCH_X86_64 || number < linux::kX32Bit) return {};
  return number == 0xFFFFFFFF ? default_answer : SECCOMP_RET_KILL_THREAD;
}

/// A sentence about the first call that ocirun's filter answers otherwise than the rules say, or
/// than libseccomp's filter does; nothing if there is no such call.
inline std::optional<std::string> wrong_answer(const linux::SeccompProfile& profile,
                                               Comparison comparison, std::mt19937& random) {
  const std::uint32_t architecture = comparison.architecture;
  const std::uint32_t alone[] = {architecture};
  if (comparison.compiled_for.empty()) comparison.compiled_for = alone;
  std::vector<std::string> warnings;
  auto prepared = linux::prepare(profile, warnings);
  if (!prepared) return {};
  const auto ours = linux::compile_for(comparison.compiled_for, profile, *prepared, warnings);
  const auto named = linux::decide(architecture, *prepared, warnings);
  // libseccomp takes a rule with the default action for an error (S-10).
  linux::PreparedProfile changing = *prepared;
  std::erase_if(changing.rules, [&](const linux::PreparedRule& rule) {
    return rule.answer == prepared->default_answer;
  });
  Result<linux::Program> theirs = refuse("libseccomp is not asked");
  if (comparison.asks_libseccomp) theirs = libseccomp_program(architecture, changing);
  if (!ours && theirs) return "only ours refuses the profile: " + ours.error().message();
  if (!ours || !named) return {};
  const auto newer = linux::newer_syscalls(profile, architecture, *named);
  const std::vector<std::uint64_t> values = interesting_values(profile);
  std::uniform_int_distribution<std::size_t> index(0, values.size() - 1);
  for (const std::uint32_t number : interesting_numbers(*named, comparison.all_below)) {
    if (!is_own_number(comparison, number)) continue;
    const bool is_newer = std::ranges::any_of(newer, [&](const linux::Interval& range) {
      return range.first <= number && number <= range.last;
    });
    const auto absent = answer_to_absent(architecture, number, prepared->default_answer);
    const auto rules = rules_for(changing, architecture, static_cast<int>(number));
    linux::PreparedProfile relevant{.default_answer = prepared->default_answer, .rules = {}};
    for (const linux::PreparedRule* rule : rules) relevant.rules.push_back(*rule);
    for (int i = 0; i < comparison.tries; ++i) {
      seccomp_data call{};
      call.nr = static_cast<int>(number);
      call.arch = architecture == SCMP_ARCH_X32 ? AUDIT_ARCH_X86_64 : architecture;
      for (auto& argument : call.args) argument = values[index(random)];
      const auto differs = [&](const char* whose, std::uint32_t found, std::uint32_t wanted) {
        return fmt::format(
            "architecture {:#x}, call {:#x}, arguments {:#x}: {:#x} instead of {} {:#x}",
            architecture, number, fmt::join(call.args, " "), found, whose, wanted);
      };
      const std::uint32_t found = run_filter(*ours, call);
      if (is_newer) {
        if (found != (SECCOMP_RET_ERRNO | ENOSYS))
          return differs("the newer call's", found, SECCOMP_RET_ERRNO | ENOSYS);
        continue;
      }
      const std::uint32_t wanted = absent.value_or(meaning(relevant, architecture, call));
      if (found != wanted) return differs("the profile's", found, wanted);
      if (!theirs || !libseccomp_understands(rules, architecture, call)) continue;
      const std::uint32_t libseccomps = run_filter(*theirs, call);
      if (found != libseccomps) return differs("libseccomp's", found, libseccomps);
    }
  }
  return {};
}

}  // namespace ocirun::test
