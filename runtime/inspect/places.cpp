#include "runtime/inspect/places.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

using linux::clean;
using Side = SoughtPath::Side;

/// Those in the container first: a place on the host that does not answer must not hide them.
std::vector<SoughtPath> sought_paths(const bundle::Config& config) {
  std::vector<SoughtPath> paths;
  const auto add = [&](const RootfsPath& path) {
    paths.push_back({Side::kContainer, clean(path)});
  };
  for (const linux::Mount& mount : config.mounts) add(mount.destination);
  for (const auto* list : {&config.masked_paths, &config.readonly_paths})
    for (const RootfsPath& path : *list) add(path);
  for (const linux::Device& device : config.devices) add(device.path);
  for (const linux::Device& device : linux::default_devices()) add(device.path);
  add(linux::dev_path("console"));
  paths.push_back({Side::kHost, config.root_path.string()});
  for (const linux::Mount& mount : config.mounts)
    if (mount.bind) paths.push_back({Side::kHost, mount.source});
  return paths;
}

}  // namespace

Places::Places(const bundle::Config& config, MountTable inside, MountTable host, Fd root)
    : inside_(std::move(inside)), host_(std::move(host)), sought_(sought_paths(config)) {
  answers_ = look_up(root, sought_,
                     [this](Side side, std::uint64_t mount) { return answers(side, mount); });
}

/// Whether the file system of a mount always answers: the root that the document names, those that
/// live in the kernel's memory, and those of the host that no server stands behind. The container
/// can mount all others itself, with a server of its own or on top of one.
bool Places::answers(Side side, std::uint64_t mount) const {
  constexpr std::string_view kInMemory[] = {"tmpfs", "devtmpfs",  "devpts",     "proc",
                                            "sysfs", "mqueue",    "cgroup",     "cgroup2",
                                            "ramfs", "hugetlbfs", "securityfs", "bpf"};
  constexpr std::string_view kServed[] = {"fuse", "nfs", "cifs", "smb", "9p", "ceph", "afs"};
  const MountLine* const line = (side == Side::kHost ? host_ : inside_).with_id(mount);
  if (line == nullptr) return false;
  const auto is_prefix = [&](std::string_view type) { return line->type.starts_with(type); };
  if (std::ranges::any_of(kServed, is_prefix)) return false;
  return side == Side::kHost || line->point == "/" ||
         std::ranges::find(kInMemory, line->type) != std::end(kInMemory) ||
         std::ranges::find(host_.lines(), line->device, &MountLine::device) != host_.lines().end();
}

const std::optional<Found>* Places::answer_for(Side side, const std::string& path) const {
  for (std::size_t i = 0; i < sought_.size(); ++i)
    if (sought_[i].side == side && sought_[i].path == path) return &answers_[i];
  return nullptr;
}

const Found* Places::known(Side side, const std::string& path) const {
  const auto* const answer = answer_for(side, path);
  return answer != nullptr && *answer && (*answer)->error == 0 ? &**answer : nullptr;
}

std::string Places::resolved(const std::string& path) const {
  const Found* const found = in_container(path);
  if (found == nullptr) return path;
  // Whoever has removed a file on the host has removed what is mounted here.
  constexpr std::string_view kRemoved = " (deleted)";
  const std::string& reached = found->path;
  const std::string before =
      reached.ends_with(kRemoved) ? reached.substr(0, reached.size() - kRemoved.size()) : reached;
  return inside_.at(before) != nullptr ? before : reached;
}

bool Places::is_missing(const std::string& path) const {
  const auto* const answer = answer_for(Side::kContainer, path);
  return answer != nullptr && *answer &&
         ((*answer)->error == ENOENT || (*answer)->error == ENOTDIR);
}

bool Places::hangs(const std::string& path) const {
  const auto* const answer = answer_for(Side::kContainer, path);
  return answer != nullptr && (!*answer || (*answer)->error == EREMOTE);
}

}  // namespace ocirun::runtime
