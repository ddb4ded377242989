// The part of Supervisor for the processes that a pod needs beside its containers: the holder, the
// keeper, pasta, the metadata service.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pods/run/supervisor.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kMetadata = "the metadata service";
constexpr std::string_view kForwarder = "the pod's network is cut off: pasta";
constexpr std::string_view kNetwork = "the pod is cut off from other pods:";

}  // namespace

/// Calls `act` in a child process, and `done` with its outcome when the child has ended.
void Supervisor::run_errand(const std::function<Result<void>()>& act, std::string what, Done done) {
  auto command = Command::call(act, std::move(what));
  if (!command) return done(std::unexpected(command.error()), Clock::now());
  errands_.push_back({.command = *std::move(command), .done = std::move(done)});
}

/// Reports the end of the process `pid` to its errand. Returns false if `pid` belongs to no errand.
bool Supervisor::end_errand(int pid, int status, Clock::time_point now) {
  const auto found = std::ranges::find_if(
      errands_, [&](const Errand& errand) { return errand.command.pid() == pid; });
  if (found == errands_.end()) return false;
  Errand errand = std::move(*found);
  errands_.erase(found);
  errand.done(errand.command.outcome(status), now);
  return true;
}

void Supervisor::notice_end(int pid, std::optional<int> status, Clock::time_point now) {
  if (services_.forwarder && pid == record_.forwarder.pid) {
    lose(kForwarder, services_.forwarder->ended(status, now));
    record_.forwarder = {};
  }
  if (pid == record_.holder.pid)
    lose("the holder of the pod's namespaces", linux::describe_end(status));
  if (services_.keeper != nullptr && pid == services_.keeper->process().pid)
    lose("`ocirun pod start` cannot adopt the pod any more: its keeper",
         linux::describe_end(status));
  if (services_.metadata && pid == record_.metadata.pid) {
    lose(kMetadata, services_.metadata->ended(status, now));
    record_.metadata = {};
  }
  for (ContainerRun& run : runs_)
    if (run.pid() == pid) run.ended(status, now);
}

/// Records that a process that the pod needs has ended. The containers go on.
void Supervisor::lose(std::string_view what, const std::string& end) {
  record_.reason = fmt::format("{} {}", what, end);
  services_.events.add("degraded", "", record_.reason);
}

/// Records that `what`, which lose() was called with, works again.
void Supervisor::regain(std::string_view what, std::string_view event) {
  if (record_.reason.starts_with(what)) record_.reason.clear();
  services_.events.add("recovered", "", event);
}

/// Takes the next step to a pasta that connects the pod again. Until then no container is ready.
void Supervisor::follow_forwarder(Clock::time_point now) {
  Forwarder& forwarder = *services_.forwarder;
  const auto step = forwarder.go_on(now);
  if (!step) return lose(kForwarder, step.error().message());
  if (*step == Forwarder::Step::kDone)
    regain(kForwarder, "pasta has connected the pod's network again");
  if (*step != Forwarder::Step::kOpenGate) return;
  const auto opened = [this, &forwarder, pasta = forwarder.pid()](const Result<void>& outcome,
                                                                  Clock::time_point then) {
    const auto done = forwarder.gate_opened(pasta, outcome, then);
    if (!done) lose(kForwarder, done.error().message());
  };
  run_errand([&] { return forwarder.open_gate(); }, "filter the pod's frames", opened);
}

/// The containers go on while the pod is cut off from the other pods of its network.
void Supervisor::follow_network(Clock::time_point now) {
  Membership& network = *services_.membership;
  const auto tell = [this](const Result<bool>& followed) {
    if (!followed) return lose(kNetwork, followed.error().message());
    if (*followed) regain(kNetwork, "the pod is connected with its network again");
  };
  tell(network.tick(now));
  if (!network.must_connect(now)) return;
  network.begin_connecting();
  run_errand([&] { return network.connect(); }, "connect the pod with its network",
             [&network, tell](Result<void> outcome, Clock::time_point then) {
               tell(network.connected(std::move(outcome), then));
             });
}

/// Clients wait while the service does not run, so that its end does not end the pod.
void Supervisor::follow_metadata(Clock::time_point now) {
  MetadataService& service = *services_.metadata;
  const auto fail = [&](const Error& error) {
    record_.metadata = {};
    lose(kMetadata, fmt::format("cannot be started again: {}", error.message()));
  };
  if (service.must_start(now)) {
    const auto started = service.start_again(now);
    if (!started) return fail(started.error());
    record_.metadata = *started;
  }
  const auto answered = service.take_answer(now);
  if (!answered) return fail(answered.error());
  if (*answered) regain(kMetadata, fmt::format("{} was started again", kMetadata));
}

}  // namespace ocirun::pods
