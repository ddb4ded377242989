#include "pods/surroundings/forwarder.hpp"

#include <fcntl.h>

#include <algorithm>

#include "linux/base/patience.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/prepare/program.hpp"
#include "pods/surroundings/namespace_path.hpp"
#include "pods/surroundings/pid_file.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::size_t kMostSaid = 65536;

/// pasta's word for a port: "192.0.2.1/8080:80".
std::string port_word(const Forward& forward) {
  return fmt::format("{}{}{}:{}", forward.address, forward.address.empty() ? "" : "/",
                     forward.host_port, forward.pod_port);
}

/// pasta lets go of its capabilities before it opens the namespace, and may then not look at
/// another process. A file on which the namespace is mounted can be opened by anybody who gets
/// there.
Result<void> pin_namespace(const linux::ProcessIdentity& holder, const std::string& pin) {
  TRY_ASSIGN(const UniqueFd made, sys::open(pin.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  return sys::mount(namespace_path(holder.pid, "net").c_str(), pin.c_str(), nullptr, MS_BIND,
                    nullptr);
}

/// Files beside the pin. pasta writes its pid when it has connected the pod.
struct Files {
  std::string pid, said;
};

/// pasta stays root, without capabilities, in an empty root and under a seccomp filter of its own:
/// setns(2) demands CAP_SYS_ADMIN in the user namespace that owns the network namespace, which is
/// the host's, and another user would lose the capability before pasta comes to that call.
/// --foreground: pasta stays the process that was recorded.
std::vector<std::string> words_of(const std::string& pasta, const std::vector<Forward>& forwards,
                                  const std::string& pin, const std::string& pid_file) {
  std::vector<std::string> words{
      pasta,   "--foreground", "--config-net", "--quiet",  "--netns", pin,        "--runas", "0",
      "--pid", pid_file,       "--no-map-gw",  "--tcp-ns", "none",    "--udp-ns", "none"};
  bool has_tcp = false, has_udp = false;
  for (const Forward& forward : forwards) {
    const bool is_tcp = forward.protocol == Protocol::kTcp;
    (is_tcp ? has_tcp : has_udp) = true;
    words.insert(words.end(), {is_tcp ? "--tcp-ports" : "--udp-ports", port_word(forward)});
  }
  if (!has_tcp) words.insert(words.end(), {"--tcp-ports", "none"});
  if (!has_udp) words.insert(words.end(), {"--udp-ports", "none"});
  return words;
}

Error failure(const Files& files, int status) {
  const auto file = sys::open(files.said.c_str(), O_RDONLY);
  std::string text = file ? sys::read_all(*file, kMostSaid).value_or("") : "";
  while (text.ends_with('\n')) text.pop_back();
  return Error(0,
               fmt::format("{}{}{}", linux::describe_end(status), text.empty() ? "" : ": ", text));
}

Result<void> wait_until_ready(linux::Child& child, const Files& files) {
  linux::Patience left(kProgramPatience);
  for (;;) {
    if (read_pid_file(files.pid)) return {};
    if (const auto status = linux::collect_child(child, std::chrono::milliseconds(0)))
      return std::unexpected(failure(files, *status));
    if (left.wait()) continue;
    linux::kill_child(child);
    return refuse("has not connected the pod within {} s", kProgramPatience.count());
  }
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

Result<void> start_forwarder(
    const std::string& pasta, const std::vector<Forward>& forwards,
    const linux::ProcessIdentity& holder, const std::string& pin,
    const std::function<Result<void>(const linux::ProcessIdentity&)>& record) {
  TRY(within(pin_namespace(holder, pin), "pin the pod's network namespace"));
  const Files files{.pid = pin + ".pid", .said = pin + ".err"};
  TRY_ASSIGN(const UniqueFd said,
             sys::open(files.said.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600));
  auto started = [&]() -> Result<void> {
    TRY_ASSIGN(linux::Child child, start_recorded_program(words_of(pasta, forwards, pin, files.pid),
                                                          {.out = Fd{-1}, .err = said}, record));
    return wait_until_ready(child, files);
  }();
  return within(std::move(started), "forward the pod's ports: pasta");
}

}  // namespace ocirun::pods
