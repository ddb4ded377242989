#include <algorithm>
#include <array>

#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/cli/options.hpp"
#include "pods/cli/run.hpp"
#include "pods/run/manage.hpp"
#include "pods/run/run_pod.hpp"
#include "pods/state/request.hpp"

namespace ocirun::pods::cli {

Result<RunRequest> request_of_pod(const PodsDirectory& pods, const std::string& name) {
  OCIRUN_TRY_ASSIGN(const PodDirectory directory, pods.open_pod(name));
  auto request = read_request(directory.fd());
  if (!request && request.error().number() == ENOENT)
    return refuse(
        "the pod \"{}\" has no run.json, because an older ocirun has run it, or its "
        "start was cut off: `ocirun pod run --replace` with its document",
        name);
  return request;
}

Result<void> check_name_of_set(const Settings& settings, const Workload& workload) {
  const std::string& set = workload_name(workload.pod);
  if (set == workload.pod.name || settings.name != workload.pod.name) return {};
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(settings.data));
  const auto view = view_pod(pods, set);
  if (!view || !view->is_supervised || view->record.kind != shown_kind(workload.pod)) return {};
  return refuse(
      "the pod \"{0}\" runs this StatefulSet already, under the name of the set (of --name, or of "
      "an "
      "older ocirun): --name {0} --replace replaces it, `ocirun pod delete --force {0}` ends it; "
      "the "
      "volumes stay",
      set);
}

namespace {

constexpr std::array kStartOptions{kDataOption};
constexpr std::array kRestartOptions{
    Option{"container", 'c', "CONTAINER", "only this container, of a pod that runs",
           Completes::kPodContainer},
    kGraceOption,
    kDataOption,
};

/// Whether an older ocirun has given the pod of a StatefulSet the name of the set, without an
/// ordinal.
bool has_name_of_set(const RunRequest& request, const Arguments& arguments,
                     const std::string& pod) {
  if (arguments.has("name") || arguments.has("profile")) return false;
  const Workload workload = read_workload(arguments.operands().front(), request.text);
  return workload.pod.name != pod && workload_name(workload.pod) == pod;
}

/// Repeats `run --detach` for the pod `name`, and replaces the files that the pod has left.
Result<int> repeat(const Command& command, const std::string& name, const RunRequest& request,
                   const Arguments& own, const Caller& caller, Repetition repetition) {
  OCIRUN_TRY_ASSIGN(const HostPath data, linux::absolute_path(data_of(own).string()));
  std::vector<std::string> words{"--detach", "--keep", "--data", data.string()};
  words.insert(words.end(), request.words.begin(), request.words.end());
  OCIRUN_TRY_ASSIGN(Arguments arguments, bundle::cli::parse(kProgram, kRun, words));
  if (has_name_of_set(request, arguments, name)) {
    words.insert(words.begin(), "--name=" + name);
    OCIRUN_TRY_ASSIGN(arguments, bundle::cli::parse(kProgram, kRun, words));
  }
  OCIRUN_TRY(within(linux::sys::chdir(request.directory.c_str()), "enter {}, where the pod was run",
                    request.directory));
  Caller first = caller;
  first.options = request.options;
  repetition.text = request.text;
  return run_document(command, arguments, first, std::move(repetition));
}

/// Whether `start` adopts the pod. If programs run that nobody can adopt, says so.
Result<bool> can_adopt(const PodsDirectory& pods, const PodView& view) {
  if (!view.lost_supervisor) return false;
  const auto remains = remains_of(pods, view.record);
  if (!remains)
    return refuse("{}; if that stays so, `ocirun pod restart {}` starts all containers anew",
                  remains.error().message(), view.record.name);
  if (remains->programs && !remains->why_not.empty())
    note(
        fmt::format("the programs of the pod are ended and started again, because nobody can adopt "
                    "them: {}",
                    remains->why_not));
  return remains->programs && remains->why_not.empty();
}

Result<int> start(const Arguments& arguments, const Caller& caller) {
  const std::string& name = arguments.operands().front();
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  OCIRUN_TRY_ASSIGN(const PodView view, view_pod(pods, name));
  if (view.record.is_stopping)
    return refuse("the pod \"{0}\" is stopping: `ocirun pod wait {0}` waits for its end", name);
  if (view.is_supervised) {
    note(fmt::format("the pod \"{}\" runs already", name));
    OCIRUN_TRY(print(name + "\n"));
    return 0;
  }
  OCIRUN_TRY_ASSIGN(const RunRequest request, request_of_pod(pods, name));
  OCIRUN_TRY_ASSIGN(const bool adopts, can_adopt(pods, view));
  const auto status =
      repeat(kStart, name, request, arguments, caller,
             {.text = {}, .replace = Replace::kIfOther, .grace = {}, .adopts = adopts});
  if (status && *status == 0 && adopts)
    note(fmt::format("the programs of the pod \"{}\" went on: a new supervisor has them", name));
  return status;
}

Result<int> restart(const Arguments& arguments, const Caller& caller) {
  const std::string& name = arguments.operands().front();
  std::optional<std::chrono::seconds> grace;
  if (const auto seconds = arguments.value("grace")) {
    OCIRUN_TRY_ASSIGN(grace, read_seconds("grace", *seconds));
  }
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  if (const auto container = arguments.value("container")) {
    if (grace)
      return refuse("--grace is for the whole pod: with -c, the grace period of `run` counts");
    OCIRUN_TRY(restart_container(pods, name, *container));
    return 0;
  }
  OCIRUN_TRY_ASSIGN(const RunRequest request, request_of_pod(pods, name));
  return repeat(kRestart, name, request, arguments, caller,
                {.text = {}, .replace = Replace::kAlways, .grace = grace, .adopts = false});
}

}  // namespace

const Command kStart{
    {"start",
     "POD",
     "run a pod again that has ended, detached; adopt one whose supervisor was killed",
     kStartOptions,
     {1, 1},
     {kOnePod}},
    start,
    Rights::kRoot};
const Command kRestart{{"restart",
                        "POD",
                        "stop a pod in order, and run it again, detached; or one container",
                        kRestartOptions,
                        {1, 1},
                        {kOnePod}},
                       restart,
                       Rights::kRoot};

}  // namespace ocirun::pods::cli
