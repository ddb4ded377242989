#include <algorithm>
#include <array>

#include "pods/cli/commands.hpp"
#include "pods/cli/options.hpp"
#include "pods/run/manage.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kWaitOptions{kDataOption};

/// The exit status that `run` had, or would have had, for a pod that has ended.
Result<int> status_of_ended(const PodRecord& record) {
  const bool is_unknown =
      std::ranges::any_of(record.containers, [](const ContainerRecord& container) {
        return container.status == ContainerStatus::kExited && !container.exit_code;
      });
  const bool runs = record.status == PodStatus::kRunning || record.status == PodStatus::kStarting;
  if (runs || is_unknown)
    return refuse("its supervisor was killed: nobody knows how its programs end");
  const int status = exit_status_of(record);
  return record.status == PodStatus::kFailed && status == 0 ? 1 : status;
}

Result<int> wait_for_pod(const PodsDirectory& pods, const std::string& name) {
  OCIRUN_TRY_ASSIGN(const PodDirectory directory, pods.open_pod(name));
  OCIRUN_TRY_ASSIGN(const PodView view, view_pod(pods, name));
  if (view.is_supervised) {
    const auto end = linux::ProcessEnd::watch(view.record.supervisor);
    if (!end && end.error().number() != ESRCH) return std::unexpected(end.error());
    while (end && !end->comes_within(std::chrono::hours(1))) {
    }
  }
  const auto record = read_record(directory.fd());
  if (record) return status_of_ended(*record);
  if (record.error().number() != ENOENT) return std::unexpected(record.error());
  if (!view.is_supervised) return refuse("it has no exit status: {}", view.record.reason);
  return refuse("it was removed when it ended: the `pod run` that ran it has its exit status");
}

Result<int> wait(const Arguments& arguments, const Caller&) {
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  const bool are_several = arguments.operands().size() > 1;
  int exit_status = 0;
  for (const std::string& name : arguments.operands()) {
    const auto status = wait_for_pod(pods, name);
    if (status) {
      OCIRUN_TRY(print(are_several ? fmt::format("{} {}\n", name, *status)
                                   : fmt::format("{}\n", *status)));
      continue;
    }
    exit_status = 1;
    print_error(kWait, Error(status.error()).within(name));
  }
  return exit_status;
}

}  // namespace

const Command kWait{{"wait",
                     "POD...",
                     "wait until pods have ended, and print their exit statuses",
                     kWaitOptions,
                     {1, kAnyNumber},
                     {kPods}},
                    wait};

}  // namespace ocirun::pods::cli
