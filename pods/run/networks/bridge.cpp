#include "pods/run/networks/bridge.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <array>
#include <cerrno>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/programs/child_call.hpp"
#include "linux/programs/program.hpp"
#include "pods/run/sandbox/holder.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kBridge = "bridge";

using Words = std::vector<std::string>;

Result<void> run_ip(Words words) {
  OCIRUN_TRY_ASSIGN(const std::string ip, find_ip_program());
  const std::string what = fmt::format("ip {}", fmt::join(words, " "));
  words.insert(words.begin(), ip);
  return within(linux::run_program(words), what);
}

/// Calls `act` in a child process that is in the network namespace of `process`.
Result<void> in_network_of(const linux::ProcessIdentity& process,
                           const std::function<Result<void>()>& act) {
  const auto enter_and_act = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const UniqueFd network,
                      sys::open(namespace_path(process.pid, "net").c_str(), O_RDONLY));
    // Checked after opening: the pid was not reused until then.
    if (!linux::is_alive(process)) return refuse("process {} has ended", process.pid);
    if (::setns(network.get(), CLONE_NEWNET) != 0)
      return fail(errno, "enter the network of process {}", process.pid);
    return act();
  };
  return linux::call_in_child(enter_and_act, "set up the network of pods");
}

/// The path of a sysctl of the pod's device, in whose network namespace the caller is.
std::string sysctl_path(std::string_view family, std::string_view name) {
  return fmt::format("/proc/sys/net/{}/conf/{}/{}", family, kMemberDevice, name);
}

/// Whether the device can have IPv6 addresses.
bool has_ipv6() {
  const auto file = sys::open(sysctl_path("ipv6", "disable_ipv6").c_str(), O_RDONLY);
  return file && sys::read_all(*file, 8).value_or("").starts_with('0');
}

/// Lets no other pod of the network change the routes and addresses of this pod, by router
/// advertisements and redirects.
Result<void> distrust_neighbours() {
  using Row = std::pair<const char*, const char*>;
  constexpr std::array kRows{Row{"ipv4", "accept_redirects"}, Row{"ipv6", "accept_ra"},
                             Row{"ipv6", "accept_redirects"}, Row{"ipv6", "autoconf"}};
  for (const auto& [family, name] : kRows) {
    const std::string path = sysctl_path(family, name);
    const auto file = sys::open(path.c_str(), O_WRONLY);
    if (!file && file.error().number() == ENOENT) continue;  // the kernel has no IPv6
    if (!file) return std::unexpected(file.error());
    OCIRUN_TRY(within(linux::write_all(*file, "0"), path));
  }
  return {};
}

}  // namespace

Result<std::string> find_ip_program() {
  std::string path = linux::find_program("ip");
  if (path.empty())
    return refuse(
        "--network needs the program ip (Debian's package iproute2), which is not installed");
  return path;
}

Result<void> make_bridge(const linux::ProcessIdentity& holder) {
  return in_network_of(holder, [&]() -> Result<void> {
    OCIRUN_TRY(run_ip({"link", "add", "name", kBridge, "type", "bridge"}));
    return run_ip({"link", "set", "dev", kBridge, "up"});
  });
}

Result<void> connect_to_bridge(const linux::ProcessIdentity& holder,
                               const linux::ProcessIdentity& pod, const Subnet& subnet,
                               int number) {
  const std::string end = fmt::format("member{}", number);
  const auto make_pair = [&]() -> Result<void> {
    if (!linux::is_alive(pod)) return refuse("the pod has ended");
    ignore(run_ip({"link", "delete", "dev", end}));  // usually there is none
    OCIRUN_TRY(run_ip({"link", "add", "name", end, "type", "veth", "peer", "name", kMemberDevice,
                       "address", subnet.mac(number), "netns", fmt::format("{}", pod.pid)}));
    return run_ip({"link", "set", "dev", end, "master", kBridge, "up"});
  };
  const auto set_up_device = [&]() -> Result<void> {
    OCIRUN_TRY(distrust_neighbours());
    OCIRUN_TRY(run_ip({"address", "add", subnet.ipv4(number) + "/24", "dev", kMemberDevice}));
    if (has_ipv6())
      OCIRUN_TRY(
          run_ip({"address", "add", subnet.ipv6(number) + "/64", "dev", kMemberDevice, "nodad"}));
    return run_ip({"link", "set", "dev", kMemberDevice, "up"});
  };
  OCIRUN_TRY(in_network_of(holder, make_pair));
  return in_network_of(pod, set_up_device);
}

}  // namespace ocirun::pods
