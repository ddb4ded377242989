#include "linux/network/interface_stats.hpp"

#include <fcntl.h>

#include <array>
#include <charconv>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {
namespace {

/// Parses "1 2 3 …": eight columns of received, eight of sent.
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
  TRY_ASSIGN(const UniqueFd fd,
             sys::openat(procfs.fd(), (process + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
  TRY_ASSIGN(const struct stat info, sys::fstat(fd));
  return info.st_ino;
}

}  // namespace

std::vector<InterfaceStats> parse_interface_stats(std::string_view text) {
  std::vector<InterfaceStats> interfaces;
  while (!text.empty()) {
    const std::string_view line = cut(text, '\n');
    const std::size_t colon = line.rfind(": ");  // a name may contain ": ", its numbers cannot
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
  TRY_ASSIGN(const Procfs procfs, Procfs::open(Procfs::Subset::kProcesses));
  const std::string process = fmt::format("{}", pid);
  TRY_ASSIGN(const ino_t theirs, net_namespace_of(procfs, process));
  TRY_ASSIGN(const ino_t ours, net_namespace_of(procfs, "self"));
  if (theirs == ours) return std::vector<InterfaceStats>();
  TRY_ASSIGN(const std::string text, procfs.read(process + "/net/dev"));
  return parse_interface_stats(text);
}

}  // namespace ocirun::linux
