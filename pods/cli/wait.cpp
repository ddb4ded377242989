#include <array>

#include "pods/cli/commands.hpp"
#include "pods/run/manage.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kWaitOptions{kDataOption};

/// Waits for the end of a pod. Returns the exit status that `run` had, or would have had.
Result<int> wait_for_pod(const PodsDirectory& pods, const std::string& name) {
  TRY_ASSIGN(const PodDirectory directory, pods.open_pod(name));
  TRY_ASSIGN(const PodView view, view_pod(pods, name));
  if (view.is_supervised) {
    const auto end = linux::ProcessEnd::watch(view.record.supervisor);
    if (!end && end.error().number() != ESRCH) return std::unexpected(end.error());
    while (end && !end->comes_within(std::chrono::hours(1))) {
    }
  }
  const auto record = read_record(directory.fd());
  if (!record && record.error().number() == ENOENT)
    return refuse(
        "the pod \"{}\" was removed when it ended: the `pod run` that ran it has its status", name);
  TRY(record);
  if (record->status == PodStatus::kRunning || record->status == PodStatus::kStarting)
    return refuse("the supervisor of the pod \"{}\" was killed: nobody knows how its programs end",
                  name);
  return exit_status_of(*record);
}

Result<int> wait(const Arguments& arguments, const Caller&) {
  TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  for (const std::string& name : arguments.operands()) {
    TRY_ASSIGN(const int status, wait_for_pod(pods, name));
    TRY(print(fmt::format("{}\n", status)));
  }
  return 0;
}

}  // namespace

const Command kWait{.name = "wait",
                    .operands = "POD...",
                    .summary = "wait until pods have ended, and print their exit statuses",
                    .options = kWaitOptions,
                    .least_operands = 1,
                    .run = wait};

}  // namespace ocirun::pods::cli
