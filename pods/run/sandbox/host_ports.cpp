#include "pods/run/sandbox/host_ports.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::string_view kAny4 = "00000000", kAny6 = "00000000000000000000000000000000";

/// An address that pasta binds a port to.
struct Target {
  int family = AF_INET;
  in_addr four{};  // of AF_INET
  in6_addr six{};  // of AF_INET6

  bool is_any() const {
    return family == AF_INET ? four.s_addr == INADDR_ANY : IN6_IS_ADDR_UNSPECIFIED(&six);
  }
  /// As /proc/net/tcp and tcp6 write it: the words of the address in the machine's byte order.
  std::string text() const {
    if (family == AF_INET) return fmt::format("{:08X}", four.s_addr);
    std::string text;
    for (const std::uint32_t word : six.s6_addr32) text += fmt::format("{:08X}", word);
    return text;
  }
};

/// The addresses of a forward: the one that is given, else all of IPv4 and all of IPv6.
Result<std::vector<Target>> targets_of(const Forward& forward) {
  if (forward.address.empty()) return std::vector<Target>{{}, {.family = AF_INET6}};
  Target target;
  if (::inet_pton(AF_INET, forward.address.c_str(), &target.four) == 1) return std::vector{target};
  target.family = AF_INET6;
  if (::inet_pton(AF_INET6, forward.address.c_str(), &target.six) == 1) return std::vector{target};
  return refuse("\"{}\" is no address of IPv4 or IPv6", forward.address);
}

/// Binds to the port for a moment. UDP without SO_REUSEADDR: two sockets with it would share the
/// port. Returns the errno, 0 if the port is free.
int try_to_bind(const Forward& forward, const Target& target) {
  const int type = forward.protocol == Protocol::kTcp ? SOCK_STREAM : SOCK_DGRAM;
  const UniqueFd socket(::socket(target.family, type | SOCK_CLOEXEC, 0));
  if (!socket) return errno == EAFNOSUPPORT ? 0 : errno;
  const int on = 1;
  if (forward.protocol == Protocol::kTcp)  // connections that have ended do not hold the port
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in four{};
  sockaddr_in6 six{};
  const sockaddr* address = reinterpret_cast<const sockaddr*>(&four);
  socklen_t size = sizeof four;
  if (target.family == AF_INET) {
    four.sin_family = AF_INET;
    four.sin_addr = target.four;
    four.sin_port = htons(forward.host_port);
  } else {
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    six.sin6_family = AF_INET6;
    six.sin6_addr = target.six;
    six.sin6_port = htons(forward.host_port);
    address = reinterpret_cast<const sockaddr*>(&six);
    size = sizeof six;
  }
  if (::bind(socket.get(), address, size) != 0) return errno;
  // Another socket with SO_REUSEADDR may be bound and not listen yet.
  return forward.protocol == Protocol::kTcp && ::listen(socket.get(), 1) != 0 ? errno : 0;
}

/// The sockets that keep others from the port.
std::vector<SocketLine> holders_of(const linux::Procfs& procfs, const Forward& forward,
                                   const Target& target) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of some 400,000 sockets
  const std::string own = target.is_any() ? "" : target.text();
  std::vector<SocketLine> found;
  for (const char* version : {"", "6"}) {
    const std::string path =
        fmt::format("self/net/{}{}", forward.protocol == Protocol::kTcp ? "tcp" : "udp", version);
    const auto file = procfs.open_file(path, O_RDONLY);
    const auto table = file ? sys::read_all(*file, kMostBytes) : Result<std::string>("");
    for (SocketLine& socket : parse_sockets(table.value_or("")))
      if (socket.port == forward.host_port &&
          (socket.listens || forward.protocol == Protocol::kUdp) &&
          (own.empty() || socket.address == own || socket.address == kAny4 ||
           socket.address == kAny6))
        found.push_back(std::move(socket));
  }
  return found;
}

bool has_socket(const linux::Procfs& procfs, const std::string& pid, const std::string& link) {
  const auto directory = procfs.open_file(pid + "/fd", O_RDONLY | O_DIRECTORY);
  if (!directory) return false;  // another user's process, or one that has ended
  bool is_there = false;
  ignore(linux::for_each_entry(*directory, [&](const char* name, unsigned char) -> Result<void> {
    if (!is_there) is_there = sys::readlinkat(*directory, name).value_or("") == link;
    return {};
  }));
  return is_there;
}

/// Names the process that has a port: "process 123 (nginx)", "the pod \"web\" (process 123,
/// pasta)"; "" if the caller cannot see it.
std::string name_owner(const linux::Procfs& procfs, const SocketLine& socket,
                       const ProcessNamer& namer) {
  const std::string link = fmt::format("socket:[{}]", socket.inode);
  std::string name;
  ignore(linux::for_each_entry(procfs.fd(), [&](const char* pid, unsigned char) -> Result<void> {
    const auto number = linux::number<int>(pid);
    if (!name.empty() || !number || !has_socket(procfs, pid, link)) return {};
    std::string program = procfs.read(fmt::format("{}/comm", pid)).value_or("");
    while (program.ends_with('\n')) program.pop_back();
    program = linux::in_one_line(program);
    const std::string more = namer ? namer(*number) : "";
    name = more.empty() ? fmt::format("process {} ({})", pid, program)
                        : fmt::format("{} (process {}, {})", more, pid, program);
    return {};
  }));
  return name;
}

/// "process 123 (nginx)"; "a process of the user 33, which cannot be seen from here"; "another
/// process".
std::string who_has(const Forward& forward, const Target& target, const ProcessNamer& namer) {
  const auto procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  if (!procfs) return "another process";
  const auto sockets = holders_of(*procfs, forward, target);
  for (const SocketLine& socket : sockets)
    if (std::string name = name_owner(*procfs, socket, namer); !name.empty()) return name;
  if (sockets.empty()) return "another process";
  return fmt::format("a process of the user {}, which cannot be seen from here",
                     sockets.front().uid);
}

}  // namespace

std::vector<SocketLine> parse_sockets(std::string_view table) {
  // The columns of the kernel's tcp.rst, which udp has too: sl local rem st queues timer retrnsmt
  // uid timeout inode.
  constexpr std::size_t kLocal = 1, kState = 3, kUid = 7, kInode = 9;
  std::vector<SocketLine> sockets;
  for (const std::string_view line : linux::words(table, '\n')) {
    const auto words = linux::words(line);
    if (words.size() <= kInode) continue;
    std::string_view local = words[kLocal];
    const std::string_view address = linux::cut(local, ':');
    const auto port = linux::number<std::uint16_t>(local, 16);
    const auto uid = linux::number<unsigned>(words[kUid]);
    const auto inode = linux::number(words[kInode]);
    if (!port || !uid || !inode) continue;
    sockets.push_back({.address = std::string(address),
                       .port = *port,
                       .listens = words[kState] == "0A",
                       .uid = *uid,
                       .inode = *inode});
  }
  return sockets;
}

Result<void> check_free(const Forward& forward, const ProcessNamer& namer) {
  OCIRUN_TRY_ASSIGN(const std::vector<Target> targets, targets_of(forward));
  for (const Target& target : targets) {
    const int error = try_to_bind(forward, target);
    if (error == 0) continue;
    const std::string port =
        fmt::format("port {} of the host ({}, {})", forward.host_port, name_of(forward.protocol),
                    !forward.address.empty()    ? forward.address
                    : target.family == AF_INET6 ? "IPv6"
                                                : "IPv4");
    if (error == EADDRINUSE)
      return refuse("{} is taken by {}", port, who_has(forward, target, namer));
    if (error == EACCES)
      return refuse(
          "{} may be opened by root alone: the sysctl net.ipv4.ip_unprivileged_port_start says "
          "from "
          "which number on others may",
          port);
    const bool is_six_of_all = target.family == AF_INET6 && target.is_any();
    if (is_six_of_all && error == EADDRNOTAVAIL) continue;  // IPv6 is switched off
    return fail(error, "{} cannot be opened", port);
  }
  return {};
}

}  // namespace ocirun::pods
