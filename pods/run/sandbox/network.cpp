#include "pods/run/sandbox/network.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "linux/base/syscalls.hpp"
#include "linux/programs/program.hpp"

namespace ocirun::pods {
namespace {

using Choice = NetworkChoice::Kind;

constexpr const char* kTun = "/dev/net/tun";  // pasta makes the network's device by it

/// Refuses to move ports on the host's own network, where a port is where the container opens it.
Result<void> check_unmoved(const std::vector<Forward>& forwards) {
  for (const Forward& forward : forwards)
    if (forward.host_port != forward.pod_port)
      return refuse(
          "--net host: port {} of the host is to lead to port {} of a container, which needs a "
          "network of the pod's own (--net pod)",
          forward.host_port, forward.pod_port);
  return {};
}

/// "no port of the host leads to the ports 8080, 53/udp of the pod: ..."; "" if a port of the pod
/// is open, so that somebody has chosen.
std::string closed_warning(const NetworkPlan& plan, const Pod& pod) {
  const std::vector<Forward> closed = closed_ports(pod);
  if (closed.empty() || !plan.forwards.empty()) return "";
  std::vector<std::string> ports;
  for (const Forward& forward : closed)
    ports.push_back(
        fmt::format("{}{}", forward.pod_port, forward.protocol == Protocol::kUdp ? "/udp" : ""));
  const bool is_one = ports.size() == 1;
  return fmt::format(
      "no port of the host leads to the port{} {} of the pod: --publish {}=HOSTPORT opens {}, "
      "--publish-all each port at the same number",
      is_one ? "" : "s", fmt::join(ports, ", "), ports.front(), is_one ? "it" : "one");
}

/// Why pasta cannot connect a network; "" if it can.
std::string why_not_connected(const std::string& pasta) {
  if (pasta.empty()) return "the program pasta (Debian's package passt), which is not installed";
  const auto tun = linux::sys::open(kTun, O_RDWR);
  if (tun || is_transient(tun.error().number())) return "";
  return fmt::format("{}, which cannot be opened ({}; its usual mode is 0666)", kTun,
                     errno_text(tun.error().number()));
}

}  // namespace

Result<NetworkPlan> plan_network(const Pod& pod, const NetworkChoice& choice) {
  NetworkPlan plan;
  plan.shared = choice.shared;
  plan.forwards = forwards_of(pod);
  switch (choice.kind) {
    case Choice::kHost:
      plan.own_network = false;
      OCIRUN_TRY(check_unmoved(plan.forwards));
      plan.forwards.clear();
      return plan;
    case Choice::kPath:
      plan.own_network = false;
      plan.path = choice.path;
      OCIRUN_TRY(within(linux::sys::open(plan.path.c_str(), O_RDONLY), "--net"));
      if (!plan.forwards.empty())
        plan.warnings.emplace_back(
            "--net: who made the network namespace must forward the pod's ports");
      plan.forwards.clear();
      return plan;
    case Choice::kNone:
      if (!plan.forwards.empty())
        plan.warnings.emplace_back("--net none: the pod's ports cannot be reached from the host");
      plan.forwards.clear();
      return plan;
    case Choice::kUnfiltered:
      plan.is_filtered = false;
      break;
    case Choice::kPod:
    case Choice::kDefault:
      break;
  }
  plan.pasta = linux::find_program("pasta");
  const std::string reason = why_not_connected(plan.pasta);
  if (reason.empty()) {
    std::string closed =
        plan.shared.empty() ? closed_warning(plan, pod) : "";  // others may reach it
    if (!closed.empty()) plan.warnings.push_back(std::move(closed));
    return plan;
  }
  plan.pasta.clear();
  if (choice.kind != Choice::kDefault || !plan.forwards.empty())
    return refuse(
        "the pod's network needs {}; --net host uses the host's network, --net none has a loopback "
        "device only",
        reason);
  plan.warnings.push_back(fmt::format(
      "the containers have no network but {}, because another needs {}; --net host uses "
      "the host's network",
      plan.shared.empty() ? "a loopback device" : fmt::format("the network \"{}\"", plan.shared),
      reason));
  return plan;
}

}  // namespace ocirun::pods
