#include "linux/seccomp/assemble.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <cstddef>

#include "linux/seccomp/program.hpp"

namespace ocirun::linux {
namespace {

// The code of a jump to a routine whose place is not known yet. The operand is the index of the
// routine. No other instruction of the tree has this code.
constexpr std::uint16_t kJumpToRoutine = BPF_JMP | BPF_JA | BPF_X;

void add_subtree(Program& code, std::span<const Leaf> leaves) {
  if (leaves.size() == 1) {
    const Leaf& leaf = leaves.front();
    code.push_back(leaf.routine
                       ? statement(kJumpToRoutine, static_cast<std::uint32_t>(*leaf.routine))
                       : return_answer(leaf.answer));
    return;
  }
  const auto below = leaves.first(leaves.size() / 2);
  const auto above = leaves.subspan(below.size());
  const std::size_t at = code.size();
  code.emplace_back();  // the test, replaced when the length of the lower half is known
  add_subtree(code, below);
  const std::size_t distance = code.size() - at - 1;
  const std::uint32_t first_above = above.front().first;
  if (distance <= kLongestJump) {
    code[at] = jump(BPF_JGE, first_above, distance, 0);
  } else {
    code[at] = jump(BPF_JGE, first_above, 0, 1);
    // Moves the lower half, whose jumps are relative and stay inside it.
    code.insert(code.begin() + static_cast<std::ptrdiff_t>(at) + 1, jump_always(distance));
  }
  add_subtree(code, above);
}

}  // namespace

Program search_tree(std::span<const Leaf> leaves, std::span<const Program> routines) {
  Program code;
  add_subtree(code, leaves);
  const std::size_t end_of_tree = code.size();
  std::vector<std::size_t> places;
  for (const Program& routine : routines) {
    places.push_back(code.size());
    append(code, routine);
  }
  for (std::size_t at = 0; at < end_of_tree; ++at)
    if (code[at].code == kJumpToRoutine) code[at] = jump_always(places[code[at].k] - at - 1);
  return code;
}

// The whole filter:
//
//       ld   arch
//       jeq  AUDIT_ARCH_X86_64, +1, 0
//       ja   the next architecture
//       ld   nr
//       a binary search for the number; leaves return an answer, or jump to a routine:
//       routines, which look at the arguments
//       jeq  AUDIT_ARCH_I386 ...
//       ret  KILL_THREAD
//
// A leaf covers all neighbouring numbers with the same decision, so the default profile of an
// engine (Docker, podman) needs about 70 leaves for the 450 calls of an architecture. Since Linux
// 5.11 the kernel caches the numbers that a filter always allows. It finds them by emulating the
// filter, and can emulate all instructions above that lead to such an ALLOW.

namespace {

constexpr std::uint32_t kLastNumber = 0xFFFFFFFF;

// The value of seccomp_data.arch.
std::uint32_t token_of(std::uint32_t architecture) {
  return architecture == SCMP_ARCH_X32 ? AUDIT_ARCH_X86_64 : architecture;
}

Program routine_of(const Decision& decision, ArgumentWidth width) {
  Program code;
  for (const ConditionalAnswer& one : decision.conditional)
    append(code, return_where_met(one.conditions, width, one.answer));
  code.push_back(return_answer(decision.answer));
  return code;
}

// The search among the numbers of one value of seccomp_data.arch. x86-64 and x32 share a value.
class NumberSearch {
 public:
  /// Adds the numbers of `filter`, which begin with `first`.
  void add(const ArchitectureFilter& filter, std::uint32_t first) {
    add_leaf({.first = first, .answer = filter.unnamed});
    for (const Interval& interval : filter.intervals) {
      Leaf leaf = leaf_of(interval.decision, filter);
      leaf.first = interval.first;
      add_leaf(leaf);
      if (interval.last == kLastNumber) break;
      add_leaf({.first = interval.last + 1, .answer = filter.unnamed});
    }
  }
  void add_leaf(const Leaf& leaf) {
    // If both begin with the same number, the earlier leaf covers no number.
    if (!leaves_.empty() && leaves_.back().first == leaf.first) leaves_.pop_back();
    if (leaves_.empty() || !leaves_.back().does_the_same(leaf)) leaves_.push_back(leaf);
  }
  Program program() const { return search_tree(leaves_, routines_); }

 private:
  Leaf leaf_of(const Decision& decision, const ArchitectureFilter& filter) {
    if (decision.conditional.empty()) return {.answer = decision.answer};
    return {.routine = routine(routine_of(decision, argument_width(filter.architecture)))};
  }
  std::size_t routine(Program code) {
    const auto same = std::ranges::find_if(routines_, [&](const Program& routine) {
      return std::ranges::equal(routine, code, [](const sock_filter& a, const sock_filter& b) {
        return a.code == b.code && a.jt == b.jt && a.jf == b.jf && a.k == b.k;
      });
    });
    if (same != routines_.end()) return static_cast<std::size_t>(same - routines_.begin());
    routines_.push_back(std::move(code));
    return routines_.size() - 1;
  }
  std::vector<Leaf> leaves_;
  std::vector<Program> routines_;
};

// The search among the numbers of x86-64 and x32. If the filter lacks one of the two architectures,
// that pointer is null.
Program search_of_x86_64(const ArchitectureFilter* x86_64, const ArchitectureFilter* x32) {
  NumberSearch search;
  if (x86_64)
    search.add(*x86_64, 0);
  else
    search.add_leaf({.answer = SECCOMP_RET_KILL_THREAD});
  if (x32) {
    search.add(*x32, kX32Bit);
  } else {
    search.add_leaf({.first = kX32Bit, .answer = SECCOMP_RET_KILL_THREAD});
    // A tracer skips a call by setting the number -1, which is no number of x32.
    search.add_leaf({.first = kLastNumber, .answer = x86_64->unnamed});
  }
  return search.program();
}

Program search_of(std::uint32_t token, std::span<const ArchitectureFilter> filters) {
  const auto filter_for = [&](std::uint32_t architecture) {
    const auto found = std::ranges::find(filters, architecture, &ArchitectureFilter::architecture);
    return found == filters.end() ? nullptr : &*found;
  };
  if (token == AUDIT_ARCH_X86_64)
    return search_of_x86_64(filter_for(SCMP_ARCH_X86_64), filter_for(SCMP_ARCH_X32));
  NumberSearch search;
  search.add(*filter_for(token), 0);
  return search.program();
}

}  // namespace

Program assemble(std::span<const ArchitectureFilter> filters) {
  Program code{load(offsetof(seccomp_data, arch))};
  std::vector<std::uint32_t> done;
  for (const ArchitectureFilter& filter : filters) {
    const std::uint32_t token = token_of(filter.architecture);
    if (std::ranges::find(done, token) != done.end()) continue;
    done.push_back(token);
    const Program search = search_of(token, filters);
    code.push_back(jump(BPF_JEQ, token, 1, 0));
    code.push_back(jump_always(search.size() + 1));
    code.push_back(load(offsetof(seccomp_data, nr)));
    append(code, search);
  }
  code.push_back(return_answer(SECCOMP_RET_KILL_THREAD));
  return code;
}

}  // namespace ocirun::linux
