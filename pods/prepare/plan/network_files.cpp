#include "pods/prepare/plan/network_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/directories.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::size_t kMostBytesOfResolvConf = std::size_t{1} << 20;

/// The host's resolv.conf. For a network of the pod's own, without the servers at 127.x.x.x and
/// ::1.
Result<std::string> resolver_text(Network network) {
  OCIRUN_TRY_ASSIGN(const UniqueFd etc, sys::open("/etc", O_PATH | O_DIRECTORY));
  const auto text = linux::read_file(etc, "resolv.conf", kMostBytesOfResolvConf);
  if (!text && text.error().number() == ENOENT) return "";
  if (!text || network == Network::kHost) return text;
  std::string kept;
  for (const std::string_view line : linux::split(*text, '\n')) {
    const auto words = linux::words(line);
    const bool is_loopback = words.size() > 1 && words[0] == "nameserver" &&
                             (words[1].starts_with("127.") || words[1] == "::1");
    if (!is_loopback && !line.empty()) kept += fmt::format("{}\n", line);
  }
  return kept;
}

}  // namespace

std::string hosts_text(const std::vector<HostLine>& lines) {
  std::string text = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n";
  for (const auto& [address, name] : lines) text += fmt::format("{}\t{}\n", address, name);
  return text;
}

Result<std::vector<BoundPath>> write_network_files(const std::string& pod_name, Network network,
                                                   Fd directory, const std::string& path) {
  OCIRUN_TRY_ASSIGN(const UniqueFd etc, linux::open_or_make_directory(directory, "etc", 0700));
  OCIRUN_TRY_ASSIGN(const std::string resolver, resolver_text(network));
  const std::string hosts = hosts_text({{.address = "127.0.1.1", .name = pod_name}});
  const std::pair<const char*, std::string> files[] = {
      {"hosts", hosts}, {"hostname", pod_name + "\n"}, {"resolv.conf", resolver}};
  std::vector<BoundPath> bound;
  for (const auto& [name, content] : files) {
    OCIRUN_TRY(linux::replace_file(etc, name, content, 0644));
    bound.push_back({.source = fmt::format("{}/etc/{}", path, name),
                     .destination = fmt::format("/etc/{}", name),
                     .read_only = false,
                     .recursive = false});
  }
  return bound;
}

}  // namespace ocirun::pods
