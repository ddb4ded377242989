#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "linux/seccomp/filter.hpp"
#include "linux/seccomp/program.hpp"

namespace ocirun::linux {

/// The width in bits of the arguments that a filter compares. On a 32-bit architecture libseccomp
/// compares the low 32 bits of an argument with the low 32 bits of the profile's value.
enum class ArgumentWidth : std::uint8_t { k32, k64 };
ArgumentWidth argument_width(std::uint32_t architecture);

/// A condition on an argument of a system call.
struct Condition {
  std::uint32_t argument = 0;  // 0 … 5
  SeccompOperator op = SeccompOperator::kEqual;
  std::uint64_t mask = 0;   // the bits that count; without kMaskedEqual all bits of the width
  std::uint64_t value = 0;  // without the bits that do not count

  bool operator==(const Condition&) const = default;
};

/// The condition as an architecture with arguments of `width` sees it. SCMP_CMP_MASKED_EQ: the
/// profile's `value` is the mask, and bits of `valueTwo` outside of the mask do not count (S-9).
Condition condition_of(const SeccompArgument& argument, ArgumentWidth width);

/// Conditions that must all hold, at most one for each argument, in order of the arguments. Empty:
/// every call meets them.
using Conditions = std::vector<Condition>;

/// Whether no call can meet both. Returns false also where the answer is not obvious: compares one
/// condition with one other on the same argument, and does not compare masks with ranges.
bool exclude_each_other(const Conditions& one, const Conditions& other);

/// Instructions that return `answer` to a call that meets the conditions. For other calls, they
/// continue with the instruction behind them.
Program return_where_met(const Conditions& conditions, ArgumentWidth width, std::uint32_t answer);

/// One way to make a system call. Some architectures have two: the call's own number, and
/// socketcall(2) or ipc(2), whose first argument says which call is meant.
struct EntryPoint {
  std::uint32_t number = 0;  // the call's own, or that of socketcall or ipc
  /// Which call of socketcall or ipc is meant: libseccomp's number for the call without the minus
  /// sign, 101 … 120 for socketcall, 201 … 224 for ipc. 0 if `number` is the call's own.
  std::uint32_t call_behind = 0;

  /// By number. The call's own entry point comes before those of calls behind the same number.
  auto operator<=>(const EntryPoint&) const = default;
  bool is_multiplexed() const { return call_behind != 0; }
};

/// The condition on the first argument of socketcall or ipc that selects the call of `entry`, which
/// is multiplexed.
Condition selector_of(const EntryPoint& entry);

/// The entry points of the system calls of one architecture (SCMP_ARCH_*), from libseccomp's
/// tables.
class EntryPoints {
 public:
  explicit EntryPoints(std::uint32_t architecture) : architecture_(architecture) {}

  /// Replaces the content of `found` by the entry points of the call `name`: none if the
  /// architecture lacks the call.
  void find(const std::string& name, std::vector<EntryPoint>& found);

 private:
  std::optional<std::uint32_t> own_number(const std::string& name);

  std::uint32_t architecture_;
  std::optional<std::map<std::string, std::uint32_t>> own_numbers_;  // read at the first need
};

}  // namespace ocirun::linux
