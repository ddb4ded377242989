#include "runtime/parent/unmapped_root.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "runtime/base/options.hpp"

namespace ocirun::runtime {
namespace {

bool is_mapped(const std::vector<linux::IdMapping>& mappings, std::uint32_t host_id) {
  return std::ranges::any_of(mappings, [&](const linux::IdMapping& line) {
    return host_id >= line.host_id && host_id - line.host_id < line.size;
  });
}

// "100000 to 165535, 1000 to 1000".
std::string host_ids(const std::vector<linux::IdMapping>& mappings) {
  std::string text;
  for (const linux::IdMapping& line : mappings)
    text += fmt::format("{}{} to {}", text.empty() ? "" : ", ", line.host_id,
                        line.host_id + line.size - 1);
  return text;
}

std::string remedy(const bundle::Config& config, uid_t owner) {
  const std::string& path = config.root_path.string();
  const auto uid = config.id_map.host_uid(Uid{});
  const auto gid = config.id_map.host_gid(Gid{});
  if (is_host_root() && uid && gid)
    return fmt::format(
        "chown -R {}:{} {} gives every file in it to the container's root; an id-mapped mount of "
        "it as /root/path keeps the owners",
        *uid, *gid, path);
  if (owner == ::geteuid())
    return fmt::format("give it to a mapped id (podman unshare chown -R 0:0 {})", path);
  return fmt::format("copy {} as the user who runs the container, or map user {}", path, owner);
}

}  // namespace

Error explain_unmapped_root(Error error, const bundle::Config& config) {
  const bool is_denied = error.number() == EACCES || error.number() == EOVERFLOW;
  if (!is_denied || !config.namespaces.contains(linux::NamespaceKind::kUser)) return error;
  const auto root = linux::sys::open(config.root_path.c_str(), O_PATH | O_DIRECTORY);
  if (!root) return error;
  const auto status = linux::sys::fstat(*root);
  if (!status || is_mapped(config.id_map.uids, status->st_uid)) return error;
  return error.within(fmt::format(
      "/root/path: {} belongs to user {}, whom /linux/uidMappings does not map (it maps the host's "
      "ids {}), so the container may make nothing in it: {}",
      config.root_path.string(), status->st_uid, host_ids(config.id_map.uids),
      remedy(config, status->st_uid)));
}

}  // namespace ocirun::runtime
