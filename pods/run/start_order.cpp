// The order in which a supervisor starts the containers of its pod.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "pods/run/supervisor.hpp"

namespace ocirun::pods {
namespace {

constexpr std::size_t kAtOnce = 8;  // containers that are created or started

}  // namespace

Result<void> Supervisor::run_init_containers() {
  for (ContainerRun& run : runs_) {
    if (!run.record().is_init) continue;
    OCIRUN_TRY(send_on({&run}));
    OCIRUN_TRY(send_on({&run}));
    while (!run.is_done()) step(Clock::time_point::max());
    if (is_stopping_) return {};
    if (run.record().exit_code != 0)
      return refuse("init container \"{}\": its program has {}", run.record().name,
                    run.record().reason);
  }
  return {};
}

/// Starts the containers that wait for no other one, then those that wait for these, and so on.
Result<void> Supervisor::start_containers(Clock::time_point since) {
  Runs waiting;
  for (ContainerRun& run : runs_)
    if (!run.record().is_init) waiting.push_back(&run);
  const Clock::time_point limit =
      settings_.ready_within ? since + *settings_.ready_within : Clock::time_point::max();
  while (!waiting.empty()) {
    OCIRUN_TRY_ASSIGN(const Runs startable, take_startable(waiting));
    OCIRUN_TRY(send_on(startable));  // all exist before the first one runs
    OCIRUN_TRY(send_on(startable));
    if (is_stopping_) return {};
    if (waiting.empty() || !startable.empty()) continue;
    if (Clock::now() >= limit)
      return refuse(
          "container \"{}\" was not started within {} s (--wait-ready), because it starts after {}",
          waiting.front()->record().name, settings_.ready_within->count(),
          fmt::join(waiting.front()->container().starts_after, ", "));
    step(limit);
  }
  return {};
}

/// Removes from `waiting`, and returns, the containers that may start, because all containers
/// before them have started.
Result<Supervisor::Runs> Supervisor::take_startable(Runs& waiting) {
  Runs startable;
  Runs still;
  for (ContainerRun* run : waiting) {
    bool is_free = true;
    for (const std::string& name : run->container().starts_after) {
      const auto before = std::ranges::find_if(
          runs_, [&](const ContainerRun& other) { return other.record().name == name; });
      if (before == runs_.end() || before->has_started()) continue;
      is_free = false;
      if (before->is_done())
        return refuse("container \"{}\" {} before it had started, and \"{}\" starts after it", name,
                      before->record().reason, run->record().name);
    }
    (is_free ? startable : still).push_back(run);
  }
  waiting = std::move(still);
  return startable;
}

/// Creates all `runs`, or starts them if they exist; kAtOnce of them at a time. Errors: why one of
/// them could not be created or started.
Result<void> Supervisor::send_on(const Runs& runs) {
  auto next = runs.begin();
  const auto are_on_their_way = [&] {
    return static_cast<std::size_t>(
        std::ranges::count_if(runs, [](const ContainerRun* run) { return run->is_on_its_way(); }));
  };
  for (;;) {
    if (is_stopping_) return {};
    while (next != runs.end() && are_on_their_way() < kAtOnce) (*next++)->go(Clock::now());
    for (const ContainerRun* run : runs)
      if (run->failure()) return std::unexpected(*run->failure());
    if (next == runs.end() && are_on_their_way() == 0) return {};
    step(Clock::time_point::max());
  }
}

Result<void> Supervisor::wait_until_ready(Clock::time_point since) {
  const Clock::time_point limit = since + *settings_.ready_within;
  for (;;) {
    if (is_stopping_ || all_ready()) return {};
    const auto ended = std::ranges::find_if(
        runs_, [](const ContainerRun& run) { return !run.record().is_init && run.is_done(); });
    if (ended != runs_.end() && ended->record().exit_code != 0)
      return refuse("container \"{}\" {} before it was ready", ended->record().name,
                    ended->record().reason);
    if (Clock::now() >= limit) {
      std::string why;
      for (const ContainerRun& run : runs_)
        if (!run.record().is_init && !run.record().ready)
          why += fmt::format(
              "; \"{}\": {}", run.record().name,
              run.record().reason.empty() ? "no probe has succeeded yet" : run.record().reason);
      return refuse("not all containers were ready within {} s (--wait-ready){}",
                    settings_.ready_within->count(), why);
    }
    step(limit);
  }
}

bool Supervisor::all_ready() const {
  return std::ranges::all_of(runs_, [](const ContainerRun& run) {
    return run.record().is_init || run.record().ready || run.is_done();
  });
}

}  // namespace ocirun::pods
