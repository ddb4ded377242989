#include "pods/run/manage.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "linux/programs/child_call.hpp"
#include "pods/cli/options.hpp"
#include "pods/cli/views.hpp"
#include "pods/run/runtime.hpp"
#include "pods/run/user_namespace.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kStopOptions{
    kGraceOption,
    kDataOption,
};
constexpr std::array kDeleteOptions{
    Option{"force", 'f', {}, "kill a pod that runs"},
    kDataOption,
};

Result<PodsDirectory> pods_of(const Arguments& arguments) {
  return PodsDirectory::open(data_of(arguments));
}

/// The names, each once: a second request to stop would kill a pod at once.
std::vector<std::string> names_of(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const std::string& name : arguments.operands())
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

using Act = std::function<Result<void>(const std::string& name)>;

/// Calls `act` with rights over the processes and files of the pod.
Result<void> on_pod(const PodsDirectory& pods, const std::string& name, const Act& act) {
  const auto view = view_pod(pods, name);
  // A `delete` that was killed may have left files of the pod without the record.
  if (!view && view.error().number() == ENOENT)
    return as_root_of(PodRecord(), [&] { return act(name); });
  if (!view) return std::unexpected(view.error());
  return as_root_of(view->record, [&] { return act(name); });
}

/// Collects the results of a command on several pods: prints errors, and goes on.
class Outcomes {
 public:
  explicit Outcomes(const Command& command) : command_(command) {}
  void add(const std::string& name, const Result<void>& outcome) {
    if (outcome) return;
    status_ = 1;
    print_error(command_, Error(outcome.error()).within(name));
  }
  int exit_status() const { return status_; }

 private:
  const Command& command_;
  int status_ = 0;
};

/// Works on several pods at once, each in a process of its own.
void on_pods(const PodsDirectory& pods, std::vector<std::string> names, const Act& act,
             Outcomes& outcomes) {
  constexpr std::size_t kAtOnce = 16;
  std::vector<std::pair<std::string, linux::ChildCall>> workers;
  std::ranges::reverse(names);
  while (!names.empty() || !workers.empty()) {
    while (!names.empty() && workers.size() < kAtOnce) {
      auto worker = linux::start_in_child([&] { return on_pod(pods, names.back(), act); });
      if (worker)
        workers.emplace_back(names.back(), *std::move(worker));
      else
        outcomes.add(names.back(), std::unexpected(worker.error()));
      names.pop_back();
    }
    std::vector<pollfd> reports;
    for (const auto& [name, worker] : workers) reports.push_back({worker.report.get(), POLLIN, 0});
    if (::poll(reports.data(), reports.size(), -1) < 0) continue;
    for (std::size_t i = workers.size(); i-- > 0;) {
      if (reports[i].revents == 0) continue;
      outcomes.add(workers[i].first, linux::outcome_of(workers[i].second, "work on the pod"));
      workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

Result<int> stop(const Arguments& arguments, const Caller&) {
  std::optional<std::chrono::seconds> grace;
  if (const auto seconds = arguments.value("grace")) {
    OCIRUN_TRY_ASSIGN(grace, read_seconds("grace", *seconds));
  }
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, pods_of(arguments));
  constexpr std::size_t kDescriptors = 256;  // of supervisors whose ends are awaited
  Outcomes outcomes(kStop);
  std::vector<StoppingPod> stopping;
  const auto await_all = [&] {
    for (const StoppingPod& pod : stopping) outcomes.add(pod.name, await_stop(pod));
    stopping.clear();
  };
  std::vector<std::string> left;  // without supervisor
  for (const std::string& name : names_of(arguments)) {
    auto begun = begin_stop(pods, name, grace);
    if (!begun)
      outcomes.add(name, std::unexpected(begun.error()));
    else if (*begun)
      stopping.push_back(**std::move(begun));
    else
      left.push_back(name);
    if (stopping.size() == kDescriptors) await_all();
  }
  on_pods(
      pods, std::move(left), [&](const std::string& name) { return take_down_pod(pods, name); },
      outcomes);
  await_all();
  return outcomes.exit_status();
}

Result<int> remove(const Arguments& arguments, const Caller&) {
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, pods_of(arguments));
  const Force force = arguments.has("force") ? Force::kYes : Force::kNo;
  Outcomes outcomes(kDelete);
  on_pods(
      pods, names_of(arguments),
      [&](const std::string& name) { return delete_pod(pods, name, force); }, outcomes);
  return outcomes.exit_status();
}

}  // namespace

const Command kStop{{"stop",
                     "POD...",
                     "stop pods in order, and wait for their ends",
                     kStopOptions,
                     {1, kAnyNumber},
                     {kPods}},
                    stop};
const Command kDelete{{"delete",
                       "POD...",
                       "remove pods that have ended, and what is left of killed ones",
                       kDeleteOptions,
                       {1, kAnyNumber},
                       {kPods}},
                      remove};

}  // namespace ocirun::pods::cli
