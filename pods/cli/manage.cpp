#include "pods/run/manage.hpp"

#include <unistd.h>

#include <array>
#include <functional>

#include "linux/process/exec.hpp"
#include "pods/cli/settings.hpp"
#include "pods/run/runtime.hpp"
#include "pods/run/user_namespace.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kStopOptions{
    Option{"grace", "SECONDS", "between the signal to stop and SIGKILL (default: that of `run`)"},
    kDataOption,
};
constexpr std::array kDeleteOptions{
    Option{"force", "", "kill a pod that runs", 'f'},
    kDataOption,
};
constexpr std::array kExecOptions{
    Option{"container", "CONTAINER", "in which container (default: the only one)", 'c'},
    Option{"tty", "", "give the program a terminal", 't'},
    kDataOption,
};

Result<PodsDirectory> pods_of(const Arguments& arguments) {
  return PodsDirectory::open(data_of(arguments));
}

/// Calls `act` with the rights over the pod's processes and files.
Result<void> on_pod(const PodsDirectory& pods, const std::string& name,
                    const std::function<Result<void>()>& act) {
  TRY_ASSIGN(const PodView view, view_pod(pods, name));
  return as_root_of(view.record, act);
}

Result<int> stop(const Arguments& arguments, const Caller&) {
  std::optional<std::chrono::seconds> grace;
  if (const auto seconds = arguments.value("grace")) {
    TRY_ASSIGN(grace, read_seconds("grace", *seconds));
  }
  TRY_ASSIGN(const PodsDirectory pods, pods_of(arguments));
  for (const std::string& name : arguments.operands())
    TRY(on_pod(pods, name, [&] { return stop_pod(pods, name, grace); }));
  return 0;
}

Result<int> remove(const Arguments& arguments, const Caller&) {
  TRY_ASSIGN(const PodsDirectory pods, pods_of(arguments));
  const Force force = arguments.has("force") ? Force::kYes : Force::kNo;
  for (const std::string& name : arguments.operands())
    TRY(on_pod(pods, name, [&] { return delete_pod(pods, name, force); }));
  return 0;
}

/// The container that --container names, or the only one of the pod that is no init container.
Result<ContainerRecord> choose_container(const PodRecord& record,
                                         const std::optional<std::string>& wanted) {
  std::vector<std::string> names;
  std::optional<ContainerRecord> only;
  for (const ContainerRecord& container : record.containers) {
    if (wanted && container.name == *wanted) return container;
    names.push_back(container.name);
    if (!container.is_init && !wanted) {
      if (only)
        return refuse("the pod has several containers: -c names one of {}", fmt::join(names, ", "));
      only = container;
    }
  }
  if (only) return *only;
  return refuse("the pod has no container \"{}\", only {}", wanted.value_or(""),
                fmt::join(names, ", "));
}

Result<int> exec(const Arguments& arguments, const Caller&) {
  TRY_ASSIGN(const PodsDirectory pods, pods_of(arguments));
  TRY_ASSIGN(const PodView view, view_pod(pods, arguments.operands().front()));
  TRY_ASSIGN(const ContainerRecord container,
             choose_container(view.record, arguments.value("container")));
  std::vector<std::string> words = view.record.runtime;
  words.emplace_back("exec");
  if (arguments.has("tty")) words.emplace_back("--tty");
  words.push_back(container.id);
  words.insert(words.end(), arguments.operands().begin() + 1, arguments.operands().end());
  if (::geteuid() != 0) TRY(become_root_of_namespace_of(view.record));
  linux::reset_signals();
  const linux::ExecArguments command(words, {});
  ::execve(command.argv()[0], command.argv(), environ);
  return fail(errno, "execute {}", words.front());
}

}  // namespace

const Command kStop{.name = "stop",
                    .operands = "POD...",
                    .summary = "stop pods in order, and wait for their ends",
                    .options = kStopOptions,
                    .least_operands = 1,
                    .run = stop};
const Command kDelete{.name = "delete",
                      .operands = "POD...",
                      .summary = "remove pods that have ended, and what is left of killed ones",
                      .options = kDeleteOptions,
                      .least_operands = 1,
                      .run = remove};
const Command kExec{.name = "exec",
                    .operands = "POD PROGRAM [ARGUMENT...]",
                    .summary = "execute a program in a container of a pod",
                    .options = kExecOptions,
                    .least_operands = 2,
                    .run = exec,
                    .takes_program = true};

}  // namespace ocirun::pods::cli
