#include "linux/network/interfaces.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {
namespace {

// isspace() of the kernel, whose table is Latin-1: it includes the no-break space.
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\xa0'; }

}  // namespace

// dev_valid_name() of the kernel, and the rule of __dev_alloc_name() for templates.
bool is_valid_interface_name(std::string_view name) {
  if (name.empty() || name.size() >= IFNAMSIZ || name == "." || name == "..") return false;
  for (const char c : name)
    if (c == '/' || c == ':' || c == '\0' || is_space(c)) return false;
  const std::size_t percent = name.find('%');
  if (percent == std::string_view::npos) return true;
  return name.substr(percent, 2) == "%d" && name.find('%', percent + 1) == std::string_view::npos;
}

Result<void> bring_loopback_up() {
  // netdevice(7): a socket of any family can set the flag. So ocirun needs no netlink library for
  // the loopback device.
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail(errno, "set the loopback device up: make a socket");
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", sizeof("lo"));
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) == 0) {
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0) return {};
  }
  if (errno == EPERM)
    return fail(errno,
                "/linux/namespaces: set the loopback device of the new network namespace up, which "
                "needs CAP_NET_ADMIN (run ocirun with it, or leave the network namespace out)");
  return fail(errno, "set the loopback device up");
}

namespace {

/// Parses "1 2 3 …": eight numbers about received data, then eight about sent data.
std::array<std::uint64_t, 16> numbers_of(std::string_view text) {
  std::array<std::uint64_t, 16> numbers{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::uint64_t& number : numbers) {
    while (at < end && *at == ' ') ++at;
    at = std::from_chars(at, end, number).ptr;
  }
  return numbers;
}

Result<ino_t> net_namespace_of(const Procfs& procfs, const std::string& process) {
  OCIRUN_TRY_ASSIGN(const UniqueFd fd,
                    sys::openat(procfs.fd(), (process + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(fd));
  return info.st_ino;
}

}  // namespace

std::vector<InterfaceStats> parse_interface_stats(std::string_view text) {
  std::vector<InterfaceStats> interfaces;
  while (!text.empty()) {
    const std::string_view line = cut(text, '\n');
    const std::size_t colon = line.rfind(": ");  // the numbers contain no colon
    const std::size_t start = line.find_first_not_of(' ');
    if (colon == std::string_view::npos || start == std::string_view::npos || start >= colon)
      continue;  // one of the two header lines
    const std::string_view name = line.substr(start, colon - start);
    if (name == "lo") continue;
    const auto n = numbers_of(line.substr(colon + 2));
    interfaces.push_back({.name = std::string(name),
                          .rx_bytes = n[0],
                          .rx_packets = n[1],
                          .rx_errors = n[2],
                          .rx_dropped = n[3],
                          .tx_bytes = n[8],
                          .tx_packets = n[9],
                          .tx_errors = n[10],
                          .tx_dropped = n[11]});
  }
  return interfaces;
}

Result<std::vector<InterfaceStats>> read_interface_stats(int pid) {
  OCIRUN_TRY_ASSIGN(const Procfs procfs, Procfs::open(Procfs::Subset::kProcesses));
  const std::string process = fmt::format("{}", pid);
  OCIRUN_TRY_ASSIGN(const ino_t theirs, net_namespace_of(procfs, process));
  OCIRUN_TRY_ASSIGN(const ino_t ours, net_namespace_of(procfs, "self"));
  if (theirs == ours) return std::vector<InterfaceStats>();
  OCIRUN_TRY_ASSIGN(const std::string text, procfs.read(process + "/net/dev"));
  return parse_interface_stats(text);
}

}  // namespace ocirun::linux
