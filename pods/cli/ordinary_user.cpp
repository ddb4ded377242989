#include "pods/cli/ordinary_user.hpp"

#include <unistd.h>

#include <array>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "pods/run/networks/membership.hpp"
#include "pods/run/user_namespace.hpp"

namespace ocirun::pods::cli {
namespace {

/// The network of the pod that the command will run; "": none.
Result<std::string> network_to_enter(const Command& command, const Arguments& arguments) {
  if (const auto name = arguments.value("network")) return *name;
  if (&command != &kStart && &command != &kRestart) return "";
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  const auto pod = pods.open_pod(arguments.operands().front());
  return pod ? network_of(*pod) : "";  // the command says that there is no such pod
}

/// For `start`, which may adopt a pod: enters the user namespace of the pod if the holder of the
/// pod's namespaces runs. Returns whether the namespace was entered.
Result<bool> enter_pod_again(const Arguments& arguments) {
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  const auto pod = pods.open_pod(arguments.operands().front());
  if (!pod) return false;
  auto record = read_record(pod->fd());
  if (!record || !still_runs(*record, record->holder)) return false;
  record->containers.clear();  // a pid of theirs may be another process now
  OCIRUN_TRY(become_root_of_namespace_of(*record));
  return true;
}

/// Starts a process that drops the network, if it has no member, when the caller has ended: a
/// signal may end the caller before its pod is a member. Returns the descriptor that only the
/// caller has.
Result<UniqueFd> drop_network_afterwards(const HostPath& data, const std::string& network) {
  OCIRUN_TRY_ASSIGN(linux::Pipe life, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(const linux::Child child,
                    linux::clone_process(0, Fd{-1}, linux::Parentage::kMine));
  if (child.pid != 0) return std::move(life.writer);
  life.writer.reset();
  ::setsid();  // the signals of the terminal are for the caller
  linux::close_descriptors_but(std::array{Fd(life.reader)});
  ignore(linux::sys::read_all(life.reader, 1));
  ignore(drop_unused_network(data, network));
  ::_exit(0);
}

}  // namespace

Result<int> run_as_root_of_namespace(const Command& command, const Arguments& arguments,
                                     const Caller& caller) {
  if (&command == &kStart) {
    OCIRUN_TRY_ASSIGN(const bool has_entered, enter_pod_again(arguments));
    if (has_entered) return command.run(arguments, caller);
  }
  OCIRUN_TRY_ASSIGN(const std::string network, network_to_enter(command, arguments));
  if (network.empty()) {
    OCIRUN_TRY(become_root_of_own_namespace());
    return command.run(arguments, caller);
  }
  OCIRUN_TRY_ASSIGN(const HostPath data, linux::absolute_path(data_of(arguments).string()));
  const auto enter = [](const linux::ProcessIdentity& holder) -> Result<void> {
    PodRecord pod;  // a pod of this holder has the user namespace of the network
    pod.holder = holder;
    OCIRUN_TRY_ASSIGN(pod.boot_id, linux::read_boot_id());
    return become_root_of_namespace_of(pod);
  };
  UniqueFd life;
  const auto enter_and_guard = [&](const linux::ProcessIdentity& holder) -> Result<void> {
    OCIRUN_TRY(enter(holder));
    OCIRUN_TRY_ASSIGN(life, drop_network_afterwards(data, network));
    return {};
  };
  OCIRUN_TRY(enter_network(data, network, enter_and_guard));
  const auto status = command.run(arguments, caller);
  if (!status || *status != 0) ignore(drop_unused_network(data, network));
  return status;
}

}  // namespace ocirun::pods::cli
