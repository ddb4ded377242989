#include "pods/prepare/contract/clauses.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::pods {
namespace {

constexpr const char* kCgroups = "/sys/fs/cgroup";

/// The mount that `path` is in: the last mount at or above it. nullptr for the root filesystem.
const linux::Mount* find_mount(const bundle::Config& config, std::string_view path) {
  const linux::Mount* found = nullptr;
  for (const linux::Mount& mount : config.mounts)
    if (linux::mount_covers(mount.destination.string(), std::string(path))) found = &mount;
  return found;
}

/// The status of `path` in the root filesystem.
std::optional<struct stat> status_of(const ContractSubject& subject, const std::string& path) {
  if (!subject.root) return std::nullopt;
  const auto opened = subject.root->open(RootfsPath(path), O_PATH);
  if (!opened) return std::nullopt;
  const auto status = linux::sys::fstat(*opened);
  return status ? std::optional(*status) : std::nullopt;
}

/// Whether the mode of a directory lets the container's user make files in it.
bool lets_write(const struct stat& status, const bundle::User& user) {
  if (user.uid.value() == 0) return true;
  const auto is_group = [&](Gid gid) { return gid.value() == status.st_gid; };
  const mode_t shift = user.uid.value() == status.st_uid ? 6U
                       : is_group(user.gid) || std::ranges::any_of(user.additional_gids, is_group)
                           ? 3U
                           : 0U;
  return ((status.st_mode >> shift) & 3U) == 3U;  // write and search
}

/// Whether the program can write to the directory `path`.
Judgement judge_writable(const ContractSubject& subject, const std::string& path) {
  if (const linux::Mount* mount = find_mount(subject.config, path)) {
    if (is_read_only(*mount))
      return not_met(fmt::format("the mount on {} is read-only", mount->destination.string()));
    if (mount->destination.string() == path)
      return met(fmt::format("a mount of the type {}", mount->bind ? "bind" : mount->type));
    return not_met(fmt::format("whether {} is in the mount on {} is not known: mount it", path,
                               mount->destination.string()));
  }
  if (subject.config.root_readonly)
    return not_met("the root filesystem is read-only, and no mount is there: mount a tmpfs");
  const auto status = status_of(subject, path);
  if (!status) return not_met("the root filesystem does not have it");
  if (!S_ISDIR(status->st_mode)) return not_met("is no directory");
  const bundle::User user = subject.config.process ? subject.config.process->user : bundle::User{};
  if (!lets_write(*status, user))
    return not_met(fmt::format("its mode {:04o} and owner {} do not let user {} write",
                               status->st_mode & 07777, status->st_uid, user.uid.value()));
  return met("a directory of the root filesystem");
}

}  // namespace

bool is_read_only(const linux::Mount& mount) {
  return ((mount.attributes.set | mount.recursive_attributes.set) & MOUNT_ATTR_RDONLY) != 0;
}

bool is_cgroup_mount(const linux::Mount& mount) {
  return mount.type == "cgroup" || mount.type == "cgroup2" ||
         (mount.bind && linux::mount_covers(kCgroups, mount.source));
}

Judgement judge_tmp(const ContractSubject& subject) { return judge_writable(subject, "/tmp"); }
Judgement judge_var_log(const ContractSubject& subject) {
  return judge_writable(subject, "/var/log");
}

Judgement judge_resolv_conf(const ContractSubject& subject) {
  const linux::Mount* mount = find_mount(subject.config, "/etc/resolv.conf");
  if (mount != nullptr) return met("a mount has it");
  const auto status = status_of(subject, "/etc/resolv.conf");
  if (status && S_ISREG(status->st_mode) && status->st_size > 0)
    return met("a file of the root filesystem");
  return not_met("neither a mount nor the root filesystem has it");
}

Judgement judge_read_only_root(const ContractSubject& subject) {
  return met(subject.config.root_readonly ? "root.readonly is true" : "root.readonly is not set");
}

Judgement judge_cgroup_mount(const ContractSubject& subject) {
  const auto mount = std::ranges::find_if(subject.config.mounts, is_cgroup_mount);
  if (mount == subject.config.mounts.end())
    return not_applicable("no cgroup filesystem is mounted");
  if (is_read_only(*mount))
    return met(fmt::format("the mount on {} is read-only", mount->destination.string()));
  return not_met(fmt::format("the mount on {} lacks \"ro\"", mount->destination.string()));
}

Judgement judge_visible_limits(const ContractSubject& subject) {
  const auto mount = std::ranges::find_if(subject.config.mounts, is_cgroup_mount);
  if (mount == subject.config.mounts.end() || mount->destination.string() != "/sys/fs/cgroup")
    return not_met("no cgroup filesystem is mounted on /sys/fs/cgroup");
  if (subject.host_has_cgroup_v2_only || mount->type == "cgroup2")
    return not_met("cgroup v2 has them as memory.max and cpu.max");
  return met("cgroup v1 is mounted on /sys/fs/cgroup");
}

/// Sockets and state of runtimes and engines. Whoever can use one of them is root of the host.
Judgement judge_runtime_access(const ContractSubject& subject) {
  static constexpr std::array<std::string_view, 9> kPlaces = {
      "/run/ocirun", "/run/runc",   "/run/crun",   "/run/containerd",    "/run/docker.sock",
      "/run/crio",   "/run/podman", "/run/docker", "/var/lib/containerd"};
  for (const linux::Mount& mount : subject.config.mounts) {
    if (!mount.bind) continue;
    std::string source = mount.source;
    if (source.starts_with("/var/run/")) source.erase(0, 4);
    for (const std::string_view place : kPlaces)
      if (linux::mount_covers(source, std::string(place)) ||
          linux::mount_covers(std::string(place), source))
        return not_met(fmt::format("the mount on {} shows {}", mount.destination.string(), place));
  }
  return met("no mount shows a socket or the state of a runtime");
}

}  // namespace ocirun::pods
