#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "linux/base/name_table.hpp"
#include "pods/cli/commands.hpp"
#include "pods/cli/options.hpp"
#include "pods/run/manage.hpp"
#include "pods/run/runtime.hpp"
#include "pods/run/user_namespace.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kKillOptions{
    Option{"container", 'c', "CONTAINER", "only to this container (default: to all that run)",
           Completes::kPodContainer},
    kDataOption,
};

/// The ids of the containers whose programs run; with `wanted`, of this one.
Result<std::vector<std::string>> targets_in(const PodRecord& record,
                                            const std::optional<std::string>& wanted) {
  std::vector<std::string> ids, names;
  for (const ContainerRecord& container : record.containers) {
    names.push_back(container.name);
    const bool is_wanted = !wanted || container.name == *wanted;
    if (is_wanted && container.status == ContainerStatus::kRunning) ids.push_back(container.id);
  }
  if (wanted && std::ranges::find(names, *wanted) == names.end())
    return refuse("the pod has no container \"{}\", but {}", *wanted, fmt::join(names, ", "));
  if (ids.empty() && wanted) return refuse("container \"{}\" does not run", *wanted);
  if (ids.empty()) return refuse("no container of the pod runs");
  return ids;
}

Result<int> send_to_pod(const Arguments& arguments, const Caller&) {
  const auto& operands = arguments.operands();
  int signal = SIGTERM;
  if (operands.size() == 2) {
    OCIRUN_TRY_ASSIGN(signal, linux::parse_signal(operands[1]));
  }
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  OCIRUN_TRY_ASSIGN(const PodView view, view_pod(pods, operands.front()));
  OCIRUN_TRY_ASSIGN(const auto ids, targets_in(view.record, arguments.value("container")));
  const auto send = [&]() -> Result<void> {
    const Runtime runtime(view.record.runtime);
    for (const std::string& id : ids) OCIRUN_TRY(runtime.kill(id, signal));
    return {};
  };
  OCIRUN_TRY(as_root_of(view.record, send));
  return 0;
}

}  // namespace

const Command kKill{{"kill",
                     "POD [SIGNAL]",
                     "send a signal (default SIGTERM) to the programs of a pod",
                     kKillOptions,
                     {1, 2},
                     {kOnePod, Operand{Completes::kSignal}}},
                    send_to_pod};

}  // namespace ocirun::pods::cli
