#include "linux/seccomp/decision.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "linux/seccomp/condition.hpp"
#include "linux/seccomp/program.hpp"

namespace ocirun::linux {
namespace {

// One name of a system call in one rule, with one entry point of the call. Mentions are sorted by
// entry point, then as in the profile: the rules lie in one vector, and so do the names of a rule.
struct Mention {
  EntryPoint entry;
  const PreparedRule* rule = nullptr;
  const std::string* name = nullptr;

  auto operator<=>(const Mention&) const = default;
};
using Mentions = std::span<const Mention>;

// A condition takes two instructions at least, and its answer a third.
constexpr std::size_t kMostConditional = BPF_MAXINSNS / 3;
// The limit for all calls of an architecture: a hostile profile could otherwise use up the memory.
constexpr std::size_t kMostConditionalOfAll = std::size_t{16} * BPF_MAXINSNS;

// All mentions in the profile, sorted.
std::vector<Mention> mentions(std::uint32_t architecture, const PreparedProfile& profile) {
  EntryPoints entry_points(architecture);
  std::vector<Mention> found;
  std::vector<EntryPoint> entries;
  for (const PreparedRule& rule : profile.rules) {
    for (const std::string* name : rule.names) {
      entry_points.find(*name, entries);
      for (const EntryPoint& entry : entries) found.push_back({entry, &rule, name});
    }
  }
  std::ranges::sort(found);
  return found;
}

// Cuts the mentions that have the same `member` of EntryPoint as the first one from the front of
// `left`, which is sorted, and returns them.
Mentions take_front(Mentions& left, std::uint32_t EntryPoint::* member) {
  const std::uint32_t wanted = left.front().entry.*member;
  std::size_t size = 1;
  while (size < left.size() && left[size].entry.*member == wanted) ++size;
  const Mentions front = left.first(size);
  left = left.subspan(size);
  return front;
}

// Leaves out the conditions on no bit, which hold for every call.
Conditions conditions_of(const std::vector<SeccompArgument>& arguments, ArgumentWidth width) {
  Conditions conditions;
  for (const SeccompArgument& argument : arguments)
    if (const Condition condition = condition_of(argument, width); condition.mask != 0)
      conditions.push_back(condition);
  std::ranges::sort(conditions, {}, &Condition::argument);
  return conditions;
}

// Makes the decisions for one architecture.
class Decider {
 public:
  Decider(std::uint32_t architecture, const PreparedProfile& profile,
          std::vector<std::string>& warnings)
      : width_(argument_width(architecture)),
        default_answer_(profile.default_answer),
        mentions_(mentions(architecture, profile)),
        warnings_(warnings) {}

  Result<std::vector<Interval>> decide() {
    std::vector<Interval> intervals;
    intervals.reserve(mentions_.size());
    Mentions left = mentions_;
    while (!left.empty()) {
      const Mentions same_number = take_front(left, &EntryPoint::number);
      const std::uint32_t number = same_number.front().entry.number;
      OCIRUN_TRY_ASSIGN(Decision decision, decide_number(same_number));
      intervals.push_back({number, number, std::move(decision)});
    }
    return intervals;
  }

 private:
  // All mentions share one number. First come the mentions of the call that has this number, then
  // the mentions of the calls that are made through this call (socketcall, ipc).
  Result<Decision> decide_number(Mentions mentions) {
    Decision decision = always(default_answer_);
    while (!mentions.empty()) {
      const Mentions call = take_front(mentions, &EntryPoint::call_behind);
      const auto unconditional = std::ranges::find_if(call, [&](const Mention& mention) {
        return changes(mention) && is_unconditional(*mention.rule);
      });
      if (call.front().entry.is_multiplexed()) {
        OCIRUN_TRY(add_hidden(decision, call, unconditional));
      } else if (unconditional != call.end()) {
        return always(unconditional->rule->answer);
      } else {
        for (const Mention& mention : call)
          if (changes(mention))
            for (const auto& arguments : mention.rule->alternatives)
              OCIRUN_TRY(
                  add(decision, {conditions_of(arguments, width_), mention.rule->answer}, mention));
      }
    }
    if (const Mention* rule = std::exchange(disagreeing_, nullptr)) warn_of_disagreement(*rule);
    return decision;
  }

  // A rule with the default action changes nothing (S-10).
  bool changes(const Mention& mention) const { return mention.rule->answer != default_answer_; }

  bool is_unconditional(const PreparedRule& rule) const {
    return std::ranges::any_of(rule.alternatives, [&](const auto& arguments) {
      return conditions_of(arguments, width_).empty();
    });
  }

  // Adds the rules for a call that is made through socketcall or ipc.
  Result<void> add_hidden(Decision& decision, Mentions call, Mentions::iterator unconditional) {
    const Conditions selected{selector_of(call.front().entry)};
    if (unconditional != call.end())
      return add(decision, {selected, unconditional->rule->answer}, *unconditional);
    const auto most_severe = std::ranges::min_element(
        call, is_more_severe, [](const Mention& mention) { return mention.rule->answer; });
    if (std::ranges::any_of(call, [&](const Mention& m) { return changes(m); }))
      warn_of_hidden_arguments(*most_severe);
    const std::uint32_t answer = most_severe->rule->answer;
    if (!is_more_severe(answer, default_answer_)) return {};
    return add(decision, {selected, answer}, *most_severe);
  }

  Result<void> add(Decision& decision, ConditionalAnswer added, const Mention& origin) {
    for (const ConditionalAnswer& earlier : decision.conditional) {
      if (earlier.answer == added.answer) {
        if (earlier.conditions == added.conditions) return {};
        continue;
      }
      if (earlier.conditions == added.conditions)
        return refuse(
            "/linux/seccomp/syscalls/{}: contradicts an earlier rule for {} with the same"
            " args; remove one of them",
            origin.rule->index, *origin.name);
      if (!disagreeing_ && !exclude_each_other(earlier.conditions, added.conditions))
        disagreeing_ = &origin;
    }
    if (decision.conditional.size() == kMostConditional || ++count_ > kMostConditionalOfAll)
      return refuse(
          "/linux/seccomp/syscalls/{}: too many args for {}: the kernel takes at most {} "
          "instructions",
          origin.rule->index, *origin.name, BPF_MAXINSNS);
    const auto behind = std::ranges::find_if(
        decision.conditional,
        [&](const ConditionalAnswer& other) { return is_more_severe(added.answer, other.answer); });
    decision.conditional.insert(behind, std::move(added));
    return {};
  }

  void warn_of_hidden_arguments(const Mention& mention) {
    warn(fmt::format(
        "/linux/seccomp/syscalls/{}: a program of another architecture can call {} through "
        "socketcall or ipc, where a filter does not see args: such calls get {}",
        mention.rule->index, *mention.name,
        is_more_severe(mention.rule->answer, default_answer_) ? "the action of this rule"
                                                              : "the default action"));
  }

  void warn_of_disagreement(const Mention& mention) {
    warn(fmt::format(
        "/linux/seccomp/syscalls/{}: a call of {} may match this rule and an earlier one with "
        "another action: the more severe action counts",
        mention.rule->index, *mention.name));
  }

  // Omits a warning that another architecture has caused already.
  void warn(std::string warning) {
    if (std::ranges::find(warnings_, warning) == warnings_.end())
      warnings_.push_back(std::move(warning));
  }

  ArgumentWidth width_;
  std::uint32_t default_answer_;
  std::vector<Mention> mentions_;
  std::vector<std::string>& warnings_;
  std::size_t count_ = 0;  // the conditional answers of all system calls so far
  // For the system call in work: the first rule that contradicts an earlier one, because some
  // arguments match both rules and their actions differ. decide_number() warns of this rule.
  // Example: ERRNO if argument 0 is above 4, then LOG if it is below 9, for a call with 5.
  const Mention* disagreeing_ = nullptr;
};

// The kernel compares the actions as signed numbers.
std::int32_t rank(std::uint32_t answer) {
  return static_cast<std::int32_t>(answer & SECCOMP_RET_ACTION_FULL);
}

}  // namespace

Decision always(std::uint32_t answer) { return {.answer = answer, .conditional = {}}; }

bool is_more_severe(std::uint32_t answer, std::uint32_t other) {
  return rank(answer) < rank(other);
}

Result<std::vector<Interval>> decide(std::uint32_t architecture, const PreparedProfile& profile,
                                     std::vector<std::string>& warnings) {
  return Decider(architecture, profile, warnings).decide();
}

namespace {

// x32 has variants of older calls at 512 to 547. Newer calls have the same numbers as on x86-64.
constexpr std::uint32_t kX32OnlyFirst = 512;
constexpr std::uint32_t kX32OnlyLast = 547;
// The first number of ARM's private calls (set_tls ...). New kernels do not add private calls.
constexpr std::uint32_t kArmPrivate = 0x0F0000;

// Whether the default action refuses a system call without ENOSYS. A libc takes only ENOSYS for a
// missing system call.
bool refuses(const SeccompProfile& profile) {
  switch (profile.default_action) {
    case SeccompAction::kKillThread:
    case SeccompAction::kKillProcess:
    case SeccompAction::kTrap:
      return true;
    case SeccompAction::kErrno:
      return profile.default_errno_ret.value_or(EPERM) != ENOSYS;
    case SeccompAction::kTrace:   // a tracer can handle a new call itself
    case SeccompAction::kNotify:  // a listener can handle a new call itself
    case SeccompAction::kAllow:
    case SeccompAction::kLog:
      return false;
  }
  return false;
}

// The kernel assigns the numbers below the result in order, on `architecture`.
std::uint32_t table_end(std::uint32_t architecture) {
  if (architecture == SCMP_ARCH_X32) return kX32Bit | kX32OnlyFirst;
  if (architecture == SCMP_ARCH_ARM) return kArmPrivate;
  return kX32Bit;
}

}  // namespace

std::vector<Interval> newer_syscalls(const SeccompProfile& profile, std::uint32_t architecture,
                                     std::span<const Interval> named) {
  std::vector<Interval> newer;
  if (!refuses(profile)) return newer;
  const std::uint32_t end = table_end(architecture);
  const auto beyond = std::ranges::lower_bound(named, end, {}, &Interval::first);
  if (beyond == named.begin()) return newer;  // a profile without calls has no known age
  // No call up to seccomp(2) (Linux 3.17) is newer: a short allow list denies such calls by intent.
  const int seccomp = ::seccomp_syscall_resolve_name_arch(architecture, "seccomp");
  const std::uint32_t greatest =
      std::max(std::prev(beyond)->last, seccomp < 0 ? 0U : static_cast<std::uint32_t>(seccomp));
  const Decision absent = always(SECCOMP_RET_ERRNO | ENOSYS);
  if (greatest + 1 < end) newer.push_back({greatest + 1, end - 1, absent});
  if (architecture == SCMP_ARCH_X32)
    newer.push_back({kX32Bit | (kX32OnlyLast + 1), 0x7FFFFFFF, absent});
  return newer;
}

}  // namespace ocirun::linux
