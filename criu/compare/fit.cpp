#include "criu/compare/fit.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sys/utsname.h>

#include <algorithm>
#include <set>

#include "criu/compare/container_namespaces.hpp"
#include "criu/compare/host_mounts.hpp"
#include "criu/compare/thread.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/binds.hpp"
#include "linux/mounts/mount_point.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {
namespace {

using linux::in_one_line;
using linux::NamespaceKind;

/// Compares the mounts of the images with the mounts of config.json.
class MountFit {
 public:
  MountFit(const Images& images, const bundle::Config& config, const linux::Procfs& procfs,
           Obstacles& obstacles)
      : images_(images), config_(config), procfs_(procfs), obstacles_(obstacles) {
    auto root = linux::SafeDir::open_root(config.root_path);
    if (!root) return;  // check_host() reports the error
    root_.emplace(*std::move(root));
  }

  void compare() {
    const std::vector<OutsideMount> outside = outside_mounts(config_, {});
    const auto is_known = [&](const std::string& name) {
      return std::ranges::find(outside, name, &OutsideMount::name) != outside.end() ||
             std::ranges::any_of(config_.mounts, [&](const linux::Mount& mount) {
               return mount.is_of_cgroups() &&
                      linux::is_at_or_below(name, linux::clean(mount.destination));
             });
    };
    for (const ImageMount& mount : images_.mounts)
      if (!mount.external.empty() && !is_known(mount.external))
        obstacles_.push_back(
            fmt::format("the images have a mount of the host on {} that they call {}: config.json "
                        "has no mount on that path",
                        in_one_line(mount.point), in_one_line(mount.external)));
    if (has_in_bounding_set(config_, CAP_SYS_ADMIN)) return;  // the mounts may have changed
    for (std::size_t index = 0; index < config_.mounts.size(); ++index) find_in_images(index);
    learn_places();
    for (const ImageMount& mount : images_.mounts) find_in_document(mount);
  }

 private:
  // Resolves the symlinks in the existing part of the path. `restore` makes the missing part.
  std::string resolved(const RootfsPath& path) const {
    std::string plain = linux::clean_path(path.string());
    if (!root_) return plain;
    const auto top = procfs_.path_of(root_->fd());
    if (!top) return plain;
    for (std::size_t end = plain.size(); end != 0; end = plain.rfind('/', end - 1)) {
      const auto file = root_->open(RootfsPath(plain.substr(0, end)), O_PATH);
      if (!file) continue;
      const auto found = procfs_.path_of(*file);
      if (!found || !linux::is_at_or_below(*found, *top)) return plain;
      const std::string inside = found->substr(*top == "/" ? 0 : top->size());
      return linux::clean_path(inside + plain.substr(end));
    }
    return plain;
  }

  void find_in_images(std::size_t index) {
    const linux::Mount& mount = config_.mounts[index];
    if (mount.remount) return;
    const std::string name = linux::clean_path(mount.destination.string());
    const std::string point = resolved(mount.destination);
    const bool is_there = std::ranges::any_of(images_.mounts, [&](const ImageMount& found) {
      return mount.bind && !found.external.empty() ? found.external == name : found.point == point;
    });
    if (!is_there)
      obstacles_.push_back(fmt::format(
          "/mounts/{}: the images have no mount on {}: restore with the config.json of the "
          "checkpoint",
          index, name));
  }

  void learn_places() {
    for (const linux::Mount& mount : config_.mounts) {
      const bool is_tree = mount.recursive || mount.is_of_cgroups();
      (is_tree ? trees_ : places_).push_back(resolved(mount.destination));
    }
    for (const RootfsPath& path : config_.masked_paths) places_.push_back(resolved(path));
    for (const RootfsPath& path : config_.readonly_paths) places_.push_back(resolved(path));
    for (const linux::Device& device : config_.devices) places_.push_back(resolved(device.path));
    for (const linux::Device& device : linux::default_devices())
      places_.push_back(resolved(device.path));
    places_.push_back(resolved(linux::dev_path("console")));
  }

  void find_in_document(const ImageMount& mount) {
    const bool is_known = mount.point == "/" || !mount.external.empty() ||
                          std::ranges::find(places_, mount.point) != places_.end() ||
                          std::ranges::any_of(trees_, [&](const std::string& tree) {
                            return linux::is_at_or_below(mount.point, tree);
                          });
    if (!is_known)
      obstacles_.push_back(fmt::format(
          "the images have a mount on {} that config.json does not have, and a container without "
          "CAP_SYS_ADMIN cannot make one",
          in_one_line(mount.point)));
  }

  const Images& images_;
  const bundle::Config& config_;
  const linux::Procfs& procfs_;
  Obstacles& obstacles_;
  std::optional<linux::SafeDir> root_;
  std::vector<std::string> places_, trees_;
};

// Loads no kernel module, because forged images could name any module.
void compare_filesystems(const Images& images, Obstacles& obstacles) {
  const auto text = []() -> Result<std::string> {
    OCIRUN_TRY_ASSIGN(const linux::Procfs full, linux::Procfs::open(linux::Procfs::Subset::kFull));
    return full.read("filesystems");
  }();
  if (!text) return obstacles.push_back(text.error().message());
  std::set<std::string_view> known;  // of lines such as "nodev\ttmpfs"
  for (const std::string_view line : linux::words(*text, '\n'))
    known.insert(line.substr(line.find('\t') + 1));
  for (const ImageMount& mount : images.mounts)
    if (mount.external.empty() && mount.point != "/" && !mount.type.empty() &&
        known.insert(mount.type).second)
      obstacles.push_back(fmt::format(
          "the images have a file system of type {} on {}: this kernel has none, or has to load a "
          "module for it first (modprobe {})",
          in_one_line(mount.type), in_one_line(mount.point), in_one_line(mount.type)));
}

template <typename T>
void tell(const Result<T>& result, std::string_view where, Obstacles& obstacles) {
  if (result) return;
  obstacles.push_back(where.empty() ? result.error().message()
                                    : fmt::format("{}: {}", where, result.error().message()));
}

}  // namespace

void compare_namespaces(const Images& images, const bundle::Config& config, Obstacles& obstacles) {
  for (const NamespaceKind kind : linux::kNamespaceKinds) {
    const bool is_own =
        std::ranges::find(images.own_namespaces, kind) != images.own_namespaces.end();
    const std::string_view name = linux::config_name(kind);
    if (config.namespaces.creates(kind) && !is_own)
      obstacles.push_back(fmt::format(
          "/linux/namespaces: the container of the images has no {} namespace of its own: leave "
          "the entry out",
          name));
    if (config.namespaces.joins(kind) && works_inside(kind) && is_own)
      obstacles.push_back(
          fmt::format("/linux/namespaces: the container of the images has a {} namespace of its "
                      "own: it has joined none by a path: remove the path of the entry",
                      name));
  }
}

void compare_with_document(const Images& images, const bundle::Config& config,
                           const linux::Procfs& procfs, Obstacles& obstacles) {
  MountFit(images, config, procfs, obstacles).compare();
  compare_namespaces(images, config, obstacles);
  const bool has_namespace = config.namespaces.creates(NamespaceKind::kUser);
  if (!has_namespace && images.id_map)
    obstacles.emplace_back(
        "/linux/namespaces: the container of the images has a user namespace: add {\"type\": "
        "\"user\"}");
  else if (has_namespace && images.id_map && !is_same_map(*images.id_map, config.id_map))
    obstacles.emplace_back(
        "/linux/uidMappings, /linux/gidMappings: the user namespace of the images maps other ids");
}

void compare_with_host(const Images& images, const bundle::Config& config, Obstacles& obstacles) {
  utsname names{};
  if (::uname(&names) == 0 && !images.machine.empty() && images.machine != names.machine)
    obstacles.push_back(fmt::format("the images are of a processor {}: this host has {}",
                                    images.machine, names.machine));
  compare_filesystems(images, obstacles);
  if (config.namespaces.contains(NamespaceKind::kPid)) return;
  for (const ImageProcess& process : images.processes)
    if (linux::read_process_stat(process.pid))
      obstacles.push_back(fmt::format(
          "the images have process {}, and another process of this host has that number: the "
          "container has no pid namespace",
          process.pid));
}

void compare_document_with_host(const bundle::Config& config, const linux::Procfs& procfs,
                                Obstacles& obstacles) {
  for (std::size_t index = 0; index < config.mounts.size(); ++index) {
    const linux::Mount& mount = config.mounts[index];
    if (mount.bind && !mount.remount)
      tell(linux::open_bind_source(procfs, mount), fmt::format("/mounts/{}", index), obstacles);
  }
  for (const OutsideMount& mount : outside_mounts(config, {}))
    if (mount.device) tell(linux::open_host_node(*mount.device), mount.name, obstacles);
  tell(linux::pin_namespaces(config.namespaces), "", obstacles);
  for (const linux::NetDevice& device : config.net_devices)
    if (::if_nametoindex(device.host_name.c_str()) == 0)
      obstacles.push_back(
          fmt::format("/linux/netDevices: this host has no network device {}", device.host_name));
}

}  // namespace ocirun::runtime
