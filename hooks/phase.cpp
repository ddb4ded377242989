#include "hooks/phase.hpp"

#include "linux/base/name_table.hpp"

namespace ocirun::hooks {

namespace {

constexpr linux::Named<Kind> kNames[] = {
    {"prestart", Kind::kPrestart},
    {"createRuntime", Kind::kCreateRuntime},
    {"createContainer", Kind::kCreateContainer},
    {"startContainer", Kind::kStartContainer},
    {"poststart", Kind::kPoststart},
    {"poststop", Kind::kPoststop},
};

}  // namespace

std::string_view config_name(Kind kind) { return name_of(kNames, kind); }

FailureRule failure_rule(Kind kind) {
  return kind == Kind::kPoststop ? FailureRule::kContinue : FailureRule::kAbort;
}

Result<void> run_phase(const Hooks& hooks, Kind kind, FailureRule rule,
                       const Surroundings& surroundings) {
  const std::vector<Hook>& list = hooks.of(kind);
  for (std::size_t index = 0; index < list.size(); ++index) {
    const std::string name =
        fmt::format("{} hook #{} ({})", config_name(kind), index, list[index].path.string());
    auto outcome = run_hook(list[index], name, surroundings);
    if (outcome) continue;
    outcome.error().within(fmt::format("{} {}", kHookFailure, name));
    if (rule == FailureRule::kAbort) return outcome;
    if (surroundings.warn) surroundings.warn(outcome.error().message());
  }
  return {};
}

bool is_hook_failure(const Error& error) {
  return error.frames().front().starts_with(kHookFailure);
}

}  // namespace ocirun::hooks
