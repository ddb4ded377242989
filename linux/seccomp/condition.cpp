#include "linux/seccomp/condition.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace ocirun::linux {
namespace {

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};
constexpr std::uint32_t kAllBitsOfWord = ~std::uint32_t{0};

// The offsets of the halves of argument 0 in seccomp_data.
constexpr bool kIsLittleEndian = std::endian::native == std::endian::little;
constexpr std::size_t kLow = offsetof(seccomp_data, args) + (kIsLittleEndian ? 0 : 4);
constexpr std::size_t kHigh = offsetof(seccomp_data, args) + (kIsLittleEndian ? 4 : 0);

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32U); }

// Whether the condition demands one value of the bits under the mask: EQ and MASKED_EQ.
bool wants_bits(const Condition& condition) {
  return condition.op == SeccompOperator::kEqual || condition.op == SeccompOperator::kMaskedEqual;
}

// The values from `least` to `greatest` meet the condition; none if least > greatest.
struct Range {
  std::uint64_t least = 0;
  std::uint64_t greatest = kAllBits;
};

Range range_of(const Condition& condition) {
  const std::uint64_t value = condition.value;
  switch (condition.op) {
    case SeccompOperator::kLess:
      return value == 0 ? Range{1, 0} : Range{0, value - 1};
    case SeccompOperator::kLessEqual:
      return {0, value};
    case SeccompOperator::kEqual:
      return {value, value};
    case SeccompOperator::kGreaterEqual:
      return {value, kAllBits};
    case SeccompOperator::kGreater:
      return value == kAllBits ? Range{1, 0} : Range{value + 1, kAllBits};
    case SeccompOperator::kNotEqual:
    case SeccompOperator::kMaskedEqual:
      return {};  // the condition has no range: all values
  }
  return {};
}

bool exclude(const Condition& one, const Condition& other) {
  if (one.argument != other.argument) return false;
  if (wants_bits(one) && wants_bits(other))
    return ((one.value ^ other.value) & one.mask & other.mask) != 0;
  if (one.op == SeccompOperator::kNotEqual || other.op == SeccompOperator::kNotEqual)
    return one.value == other.value &&
           (one.op == SeccompOperator::kEqual || other.op == SeccompOperator::kEqual);
  const Range a = range_of(one);
  const Range b = range_of(other);
  return a.greatest < b.least || b.greatest < a.least;
}

// Placeholders for jump distances that code_of() cannot know; prepend() replaces them. kMet leads
// to the next condition or, after the last one, to the answer. kNotMet leads behind the answer.
constexpr std::uint8_t kMet = 254;
constexpr std::uint8_t kNotMet = 255;

void compare_bits(Program& code, std::size_t offset, std::uint32_t mask, std::uint32_t value) {
  if (mask == 0) return;
  code.push_back(load(offset));
  if (mask != kAllBitsOfWord) code.push_back(statement(BPF_ALU | BPF_AND | BPF_K, mask));
  code.push_back(jump(BPF_JEQ, value, 0, kNotMet));
}

// Compares the low halves by `test` if the high halves are equal.
void compare_order(Program& code, const Condition& condition, ArgumentWidth width, unsigned test,
                   std::uint8_t if_true, std::uint8_t if_false) {
  if (width == ArgumentWidth::k64) {
    code.push_back(load(kHigh));
    code.push_back(jump(BPF_JGT, high(condition.value), if_true, 0));
    code.push_back(jump(BPF_JEQ, high(condition.value), 0, if_false));
  }
  code.push_back(load(kLow));
  code.push_back(jump(test, low(condition.value), if_true, if_false));
}

Program code_of(const Condition& condition, ArgumentWidth width) {
  Program code;
  switch (condition.op) {
    case SeccompOperator::kEqual:
    case SeccompOperator::kMaskedEqual:
      compare_bits(code, kHigh, high(condition.mask), high(condition.value));
      compare_bits(code, kLow, low(condition.mask), low(condition.value));
      break;
    case SeccompOperator::kNotEqual:
      if (width == ArgumentWidth::k64) {
        code.push_back(load(kHigh));
        code.push_back(jump(BPF_JEQ, high(condition.value), 0, kMet));
      }
      code.push_back(load(kLow));
      code.push_back(jump(BPF_JEQ, low(condition.value), kNotMet, kMet));
      break;
    case SeccompOperator::kGreater:
      compare_order(code, condition, width, BPF_JGT, kMet, kNotMet);
      break;
    case SeccompOperator::kGreaterEqual:
      compare_order(code, condition, width, BPF_JGE, kMet, kNotMet);
      break;
    case SeccompOperator::kLessEqual:
      compare_order(code, condition, width, BPF_JGT, kNotMet, kMet);
      break;
    case SeccompOperator::kLess:
      compare_order(code, condition, width, BPF_JGE, kNotMet, kMet);
      break;
  }
  for (sock_filter& instruction : code)
    if (instruction.code == (BPF_LD | BPF_W | BPF_ABS))
      instruction.k += static_cast<std::uint32_t>(condition.argument * sizeof(std::uint64_t));
  return code;
}

// Puts `code` before `rest`, and replaces kMet and kNotMet in `code` by the distances.
void prepend(Program code, Program& rest) {
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (BPF_CLASS(code[at].code) != BPF_JMP) continue;
    const std::size_t to_rest = code.size() - at - 1;
    const auto resolve = [&](std::uint8_t& distance) {
      if (distance == kMet)
        distance = static_cast<std::uint8_t>(to_rest);
      else if (distance == kNotMet)
        distance = static_cast<std::uint8_t>(to_rest + rest.size());
    };
    resolve(code[at].jt);
    resolve(code[at].jf);
  }
  rest.insert(rest.begin(), code.begin(), code.end());
}

}  // namespace

ArgumentWidth argument_width(std::uint32_t architecture) {
  const bool is_n32 = (architecture & __AUDIT_ARCH_CONVENTION_MIPS64_N32) != 0;
  return (architecture & __AUDIT_ARCH_64BIT) != 0 && !is_n32 ? ArgumentWidth::k64
                                                             : ArgumentWidth::k32;
}

Condition condition_of(const SeccompArgument& argument, ArgumentWidth width) {
  const bool is_masked = argument.op == SeccompOperator::kMaskedEqual;
  const std::uint64_t bits = width == ArgumentWidth::k64 ? kAllBits : kAllBitsOfWord;
  const std::uint64_t mask = is_masked ? argument.value & bits : bits;
  return {.argument = argument.index,
          .op = argument.op,
          .mask = mask,
          .value = (is_masked ? argument.value_two : argument.value) & mask};
}

bool exclude_each_other(const Conditions& one, const Conditions& other) {
  return std::ranges::any_of(one, [&](const Condition& mine) {
    return std::ranges::any_of(other,
                               [&](const Condition& theirs) { return exclude(mine, theirs); });
  });
}

Program return_where_met(const Conditions& conditions, ArgumentWidth width, std::uint32_t answer) {
  Program code{return_answer(answer)};
  for (std::size_t i = conditions.size(); i > 0; --i)
    prepend(code_of(conditions[i - 1], width), code);
  return code;
}

namespace {

// EntryPoint::call_behind is the first argument of socketcall or ipc, plus one of these constants.
constexpr std::uint32_t kBehindSocketCall = 100;
constexpr std::uint32_t kBehindIpc = 200;

// The kernel looks at these bits of the first argument: socketcall takes an int, and the upper
// half of ipc's argument is a version.
constexpr std::uint64_t kSocketCallBits = 0xFFFFFFFF;
constexpr std::uint64_t kIpcBits = 0xFFFF;

// The number of socketcall, counted from the first call number of the architecture: 4000 on MIPS, 0
// on all others with socketcall.
constexpr int kSocketCall = 102;
// The calls behind socketcall and ipc also have numbers of their own, all in these ranges, counted
// as kSocketCall is. own_number() asks for no other numbers: libseccomp takes several times as long
// for the name of a number as for the number of a name.
struct Numbers {
  int first = 0;
  int last = 0;
};
constexpr Numbers kOwnNumbers[] = {
    {168, 184},  // sockets of MIPS
    {326, 373},  // sockets of the others; accept4, recvmmsg and sendmmsg of MIPS
    {392, 402},  // ipc, since Linux 5.1
};

}  // namespace

Condition selector_of(const EntryPoint& entry) {
  const bool is_ipc = entry.call_behind > kBehindIpc;
  return {.argument = 0,
          .op = SeccompOperator::kMaskedEqual,
          .mask = is_ipc ? kIpcBits : kSocketCallBits,
          .value = entry.call_behind - (is_ipc ? kBehindIpc : kBehindSocketCall)};
}

void EntryPoints::find(const std::string& name, std::vector<EntryPoint>& found) {
  found.clear();
  const int number = ::seccomp_syscall_resolve_name_arch(architecture_, name.c_str());
  if (number >= 0) {
    found.push_back({.number = static_cast<std::uint32_t>(number)});
    return;
  }
  const int multiplexer = ::seccomp_syscall_resolve_name_rewrite(architecture_, name.c_str());
  if (multiplexer < 0) return;
  found.push_back({.number = static_cast<std::uint32_t>(multiplexer),
                   .call_behind = static_cast<std::uint32_t>(-number)});
  if (const auto own = own_number(name)) found.push_back({.number = *own});
}

// libseccomp does not return the own number of a call behind socketcall or ipc, but returns the
// name for each number. So this function asks for the names of all numbers in kOwnNumbers.
std::optional<std::uint32_t> EntryPoints::own_number(const std::string& name) {
  if (!own_numbers_) {
    own_numbers_.emplace();
    const int base = ::seccomp_syscall_resolve_name_arch(architecture_, "socketcall") - kSocketCall;
    for (const Numbers& numbers : kOwnNumbers)
      for (int number = base + numbers.first; number <= base + numbers.last; ++number) {
        const std::unique_ptr<char, decltype(&::free)> known(
            ::seccomp_syscall_resolve_num_arch(architecture_, number), ::free);
        if (known) own_numbers_->emplace(known.get(), static_cast<std::uint32_t>(number));
      }
  }
  const auto found = own_numbers_->find(name);
  return found == own_numbers_->end() ? std::nullopt : std::optional(found->second);
}

}  // namespace ocirun::linux
