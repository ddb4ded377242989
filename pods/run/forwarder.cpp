#include "pods/run/forwarder.hpp"

#include <fcntl.h>

#include <algorithm>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "pods/prepare/program.hpp"
#include "pods/run/namespace_path.hpp"
#include "pods/run/pid_file.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

/// pasta's word for a port: "192.0.2.1/8080:80".
std::string port_word(const Forward& forward) {
  return fmt::format("{}{}{}:{}", forward.address, forward.address.empty() ? "" : "/",
                     forward.host_port, forward.pod_port);
}

/// pasta lets go of its privileges before it opens the namespace, and may then not look at another
/// process. A file on which the namespace is mounted can be opened by anybody who gets there.
Result<void> pin_namespace(const linux::ProcessIdentity& holder, const std::string& pin) {
  TRY_ASSIGN(const UniqueFd made, sys::open(pin.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  return sys::mount(namespace_path(holder.pid, "net").c_str(), pin.c_str(), nullptr, MS_BIND,
                    nullptr);
}

}  // namespace

Result<std::vector<Forward>> forwards_of(const Pod& pod) {
  std::vector<Forward> forwards;
  const auto find_port = [&](const std::string& name) -> const Port* {
    for (const Container& container : pod.containers)
      for (const Port& port : container.ports)
        if (port.name == name) return &port;
    return nullptr;
  };
  for (const HostPort& host : pod.host_ports) {
    const Port* port = host.pod_port ? &*host.pod_port : find_port(host.name);
    if (port != nullptr)
      forwards.push_back({host.address, host.number, port->number, port->protocol});
  }
  if (!pod.host_ports.empty()) return forwards;
  for (const Container& container : pod.containers)
    for (const Port& port : container.ports) {
      Forward forward{"", port.number, port.number, port.protocol};
      if (std::ranges::find(forwards, forward) != forwards.end())
        return refuse("two containers have the port {}, and a pod has one network", port.number);
      forwards.push_back(std::move(forward));
    }
  return forwards;
}

Result<linux::ProcessIdentity> start_forwarder(const std::string& pasta,
                                               const std::vector<Forward>& forwards,
                                               const linux::ProcessIdentity& holder,
                                               const std::string& pin) {
  TRY(within(pin_namespace(holder, pin), "pin the pod's network namespace"));
  const std::string pid_file = pin + ".pid";
  std::vector<std::string> words{
      pasta,   "--config-net", "--quiet",     "--netns",  pin,    "--runas",  "0",
      "--pid", pid_file,       "--no-map-gw", "--tcp-ns", "none", "--udp-ns", "none"};
  bool has_tcp = false, has_udp = false;
  for (const Forward& forward : forwards) {
    const bool is_tcp = forward.protocol == Protocol::kTcp;
    (is_tcp ? has_tcp : has_udp) = true;
    words.insert(words.end(), {is_tcp ? "--tcp-ports" : "--udp-ports", port_word(forward)});
  }
  if (!has_tcp) words.insert(words.end(), {"--tcp-ports", "none"});
  if (!has_udp) words.insert(words.end(), {"--udp-ports", "none"});
  TRY(within(run_program(words), "forward the pod's ports: pasta"));
  TRY_ASSIGN(const int pid, read_pid_file(pid_file));
  TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(pid));
  return linux::ProcessIdentity{.pid = pid, .start_time = stat.start_time};
}

}  // namespace ocirun::pods
