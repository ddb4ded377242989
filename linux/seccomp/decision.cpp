#include "linux/seccomp/decision.hpp"

#include <seccomp.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace ocirun::linux {
namespace {

// A profile's rule names a system call.
struct Mention {
  std::uint32_t number = 0;
  const PreparedRule* rule = nullptr;
  const std::string* name = nullptr;
};

// The calls that a profile names on an architecture.
struct Mentions {
  std::vector<Mention> calls;        // sorted by number, then in the profile's order
  std::vector<Mention> multiplexed;  // calls behind socketcall(2) and ipc(2), without a number
};

bool has_multiplexers(std::uint32_t architecture) {
  return ::seccomp_syscall_resolve_name_arch(architecture, "socketcall") >= 0 ||
         ::seccomp_syscall_resolve_name_arch(architecture, "ipc") >= 0;
}

// Whether the name stands for a call behind socketcall(2) or ipc(2) of the architecture.
bool is_multiplexed(std::uint32_t architecture, const std::string& name, int number) {
  return ::seccomp_syscall_resolve_name_rewrite(architecture, name.c_str()) != number;
}

Mentions mentions(std::uint32_t architecture, const PreparedProfile& profile) {
  const bool multiplexes = has_multiplexers(architecture);
  Mentions found;
  for (const PreparedRule& rule : profile.rules)
    for (const std::string& name : rule.names) {
      const int number = ::seccomp_syscall_resolve_name_arch(architecture, name.c_str());
      if (multiplexes && is_multiplexed(architecture, name, number))
        found.multiplexed.push_back({.rule = &rule, .name = &name});
      else if (number >= 0)
        found.calls.push_back({static_cast<std::uint32_t>(number), &rule, &name});
    }
  std::ranges::sort(found.calls, {},
                    [](const Mention& m) { return std::pair(m.number, m.rule->index); });
  return found;
}

// A condition on no bit at all holds for every call.
Conditions conditions_of(const std::vector<SeccompArgument>& arguments, ArgumentWidth width) {
  Conditions conditions;
  for (const SeccompArgument& argument : arguments)
    if (const Condition condition = condition_of(argument, width); condition.mask != 0)
      conditions.push_back(condition);
  std::ranges::sort(conditions, {}, &Condition::argument);
  return conditions;
}

bool is_unconditional(const Mention& mention, ArgumentWidth width) {
  return std::ranges::any_of(mention.rule->alternatives, [&](const auto& arguments) {
    return conditions_of(arguments, width).empty();
  });
}

Result<void> add(Decision& decision, ConditionalAnswer added, const Mention& origin) {
  for (const ConditionalAnswer& earlier : decision.conditional) {
    if (earlier.conditions == added.conditions) {
      if (earlier.answer == added.answer) return {};
      return refuse(
          "/linux/seccomp/syscalls/{}: contradicts an earlier rule for {} with the same"
          " args; remove one of them",
          origin.rule->index, *origin.name);
    }
    if (earlier.answer != added.answer && !exclude_each_other(earlier.conditions, added.conditions))
      decision.left_to_libseccomp = true;
  }
  decision.conditional.push_back(std::move(added));
  return {};
}

bool is_multiplexer(const Mention& mention) {
  return *mention.name == "socketcall" || *mention.name == "ipc";
}

// The decisions of one architecture, while they are made.
class Decider {
 public:
  Decider(std::uint32_t architecture, const PreparedProfile& profile)
      : width_(argument_width(architecture)),
        default_answer_(profile.default_answer),
        mentions_(mentions(architecture, profile)) {
    std::erase_if(mentions_.multiplexed, [&](const Mention& m) { return !changes(m); });
    decisions_.left_to_libseccomp.default_answer = default_answer_;
    decisions_.unnamed = always(default_answer_);
  }

  Result<Decisions> decide() && {
    const auto end = mentions_.calls.cend();
    for (auto first = mentions_.calls.cbegin(); first != end;) {
      const std::uint32_t number = first->number;
      const auto last =
          std::find_if(first, end, [&](const Mention& m) { return m.number != number; });
      TRY_ASSIGN(Decision decision, decide_call({first, last}));
      decisions_.calls.push_back({number, number, std::move(decision)});
      first = last;
    }
    if (!mentions_.multiplexed.empty())
      decisions_.unnamed = leave_to_libseccomp(mentions_.multiplexed);
    // libseccomp gets the rules in the order of the profile.
    std::ranges::sort(decisions_.left_to_libseccomp.rules, {}, &PreparedRule::index);
    return std::move(decisions_);
  }

 private:
  // A rule with the default action changes nothing (S-10).
  bool changes(const Mention& mention) const { return mention.rule->answer != default_answer_; }

  // The decision for one number, from all its mentions in the profile's order.
  Result<Decision> decide_call(std::span<const Mention> mentions) {
    if (is_multiplexer(mentions.front()) && !mentions_.multiplexed.empty())
      return leave_to_libseccomp(mentions);
    for (const Mention& mention : mentions)
      if (changes(mention) && is_unconditional(mention, width_))
        return always(mention.rule->answer);
    Decision decision = always(default_answer_);
    for (const Mention& mention : mentions)
      if (changes(mention))
        for (const auto& arguments : mention.rule->alternatives)
          TRY(add(decision, {conditions_of(arguments, width_), mention.rule->answer}, mention));
    if (decision.left_to_libseccomp) return leave_to_libseccomp(mentions);
    return decision;
  }

  Decision leave_to_libseccomp(std::span<const Mention> mentions) {
    for (const auto& [number, rule, name] : mentions)
      if (rule->answer != default_answer_)
        decisions_.left_to_libseccomp.rules.push_back(
            {rule->answer, rule->alternatives, {*name}, rule->index});
    return {.answer = 0, .conditional = {}, .left_to_libseccomp = true};
  }

  ArgumentWidth width_;
  std::uint32_t default_answer_;
  Mentions mentions_;
  Decisions decisions_;
};

}  // namespace

Decision always(std::uint32_t answer) { return {.answer = answer, .conditional = {}}; }

Result<Decisions> decide(std::uint32_t architecture, const PreparedProfile& profile) {
  return Decider(architecture, profile).decide();
}

}  // namespace ocirun::linux
