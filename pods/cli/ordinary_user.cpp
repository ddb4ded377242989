#include "pods/cli/ordinary_user.hpp"

#include "pods/networks/membership.hpp"
#include "pods/run/user_namespace.hpp"

namespace ocirun::pods::cli {
namespace {

/// The network of the pod that the command will run; "": none.
Result<std::string> network_to_enter(const Command& command, const Arguments& arguments) {
  if (const auto name = arguments.value("network")) return *name;
  if (&command != &kStart && &command != &kRestart) return "";
  TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  const auto pod = pods.open_pod(arguments.operands().front());
  return pod ? network_of(*pod) : "";  // the command says that there is no such pod
}

}  // namespace

Result<int> run_as_root_of_namespace(const Command& command, const Arguments& arguments,
                                     const Caller& caller) {
  TRY_ASSIGN(const std::string network, network_to_enter(command, arguments));
  if (network.empty()) {
    TRY(become_root_of_own_namespace());
    return command.run(arguments, caller);
  }
  TRY_ASSIGN(const HostPath data, linux::absolute_path(data_of(arguments).string()));
  const auto enter = [](const linux::ProcessIdentity& holder) -> Result<void> {
    PodRecord pod;  // a pod of this holder has the user namespace of the network
    pod.holder = holder;
    TRY_ASSIGN(pod.boot_id, linux::read_boot_id());
    return become_root_of_namespace_of(pod);
  };
  TRY(enter_network(data, network, enter));
  const auto status = command.run(arguments, caller);
  if (!status || *status != 0) static_cast<void>(drop_unused_network(data, network));
  return status;
}

}  // namespace ocirun::pods::cli
