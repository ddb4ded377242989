#include "runtime/parent/user_namespace.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "runtime/base/options.hpp"
#include "runtime/protocol/root_rules.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

Result<linux::IdMap> read_maps_of(int pid) {
  linux::IdMap map;
  OCIRUN_TRY_ASSIGN(map.uids,
                    linux::read_id_map(Fd{AT_FDCWD}, fmt::format("/proc/{}/uid_map", pid)));
  OCIRUN_TRY_ASSIGN(map.gids,
                    linux::read_id_map(Fd{AT_FDCWD}, fmt::format("/proc/{}/gid_map", pid)));
  return map;
}

// The kernel shows the id maps of a user namespace in /proc/PID of a process inside. So a
// short-lived child joins the namespace, and this process reads uid_map and gid_map of the child.
Result<linux::IdMap> read_id_map_of(Fd user_namespace) {
  OCIRUN_TRY_ASSIGN(linux::Pipe ready, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(const linux::Child child,
                    linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::setns(user_namespace.value, CLONE_NEWUSER) != 0) ::_exit(1);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // setns() may have cleared the signal
    ignore(::write(ready.writer.get(), "x", 1));
    linux::close_descriptors_from(3);
    for (;;) ::pause();
  }
  ready.writer.reset();
  char byte = 0;
  const bool inside = ::read(ready.reader.get(), &byte, 1) == 1;
  Result<linux::IdMap> map = inside ? read_maps_of(child.pid)
                                    : fail(EPERM, "enter the user namespace to read its mappings");
  ::kill(child.pid, SIGKILL);
  OCIRUN_TRY(linux::wait_for_child(child.pid));
  return map;
}

// 0:0 counts as "not given", because engines write 0:0 into every device.
bool is_given_owner(const linux::Device& device) {
  return device.uid != Uid{} || device.gid != Gid{};
}

std::string refused_attributes(const linux::Device& device, const linux::IdMap& map,
                               const struct stat& node) {
  std::string refused;
  if (device.mode && *device.mode != (node.st_mode & mode_t{0777}))
    refused = fmt::format("mode {:04o}", *device.mode);
  if (is_given_owner(device) &&
      (map.host_uid(device.uid) != node.st_uid || map.host_gid(device.gid) != node.st_gid))
    refused += fmt::format("{}owner {}:{}", refused.empty() ? "" : " and ", device.uid.value(),
                           device.gid.value());
  return refused;
}

bool is_mapped(const std::vector<linux::IdMapping>& mappings, std::uint32_t host_id) {
  return std::ranges::any_of(mappings, [&](const linux::IdMapping& line) {
    return host_id >= line.host_id && host_id - line.host_id < line.size;
  });
}

// The ids of the host as text: "100000 to 165535, 1000 to 1000".
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

Result<void> compare_joined_id_map(bundle::Config& config,
                                   const std::vector<linux::PinnedNamespace>& pinned) {
  const auto user = std::ranges::find(pinned, NamespaceKind::kUser, &linux::PinnedNamespace::kind);
  if (user == pinned.end()) return {};
  OCIRUN_TRY_ASSIGN(const linux::IdMap actual, read_id_map_of(user->fd));
  if (!config.id_map.empty() && config.id_map != actual)
    return refuse(
        "/linux/uidMappings: the user namespace {} has other mappings; leave them out or give the "
        "same",
        config.namespaces.find(NamespaceKind::kUser)->path->string());
  config.id_map = actual;
  return {};
}

void warn_of_devices(const bundle::Config& config, const Log& log) {
  if (!config.namespaces.contains(NamespaceKind::kUser) || brings_own_dev(config)) return;
  for (std::size_t index = 0; index < config.devices.size(); ++index) {
    const linux::Device& device = config.devices[index];
    if (device.kind == linux::Device::Kind::kFifo) continue;
    const auto host = linux::open_host_node(device);
    if (!host) continue;  // DeviceMaker reports the error
    const auto node = linux::sys::fstat(*host);
    if (!node) continue;
    if (const std::string refused = refused_attributes(device, config.id_map, *node);
        !refused.empty())
      log.warn(
          fmt::format("/linux/devices/{}: {} cannot be given in a user namespace: {} is the host's "
                      "node, bound, and keeps its mode {:04o} and its owner, the host's {}:{}",
                      index, refused, device.path.string(), node->st_mode & mode_t{0777},
                      node->st_uid, node->st_gid));
  }
}

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
