#include "runtime/commands/mounts.hpp"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <ranges>

#include "bundle/documents/added_mounts.hpp"
#include "linux/base/outer_filter.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/mounts/mount_point.hpp"
#include "linux/process/lsm.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/commands/container_child.hpp"
#include "runtime/commands/live_mounts.hpp"

namespace ocirun::runtime {
namespace {

using bundle::AddedMount;
using bundle::AddedMounts;
using bundle::LiveMount;
using linux::NamespaceKind;

Result<void> check_mount(const linux::Mount& mount, const bundle::Config& config) {
  if (linux::clean(mount.destination) == "/")
    return refuse("/destination: must not be /, the root of the running container");
  if (mount.remount)
    return refuse("/options: \"remount\" changes a mount; remove the mount, and add it anew");
  if (!mount.bind && mount.type != "tmpfs")
    return refuse(
        "/type {:?}: must be a bind (option \"bind\" or \"rbind\") or \"tmpfs\": other file "
        "systems show namespaces of the container, and only `create` can mount these",
        mount.type);
  if (mount.copy_up)
    return refuse(
        "/options: \"tmpcopyup\" would copy files of the running container outside its limit of "
        "memory; copy them by `ocirun exec`");
  if (mount.superblock_flags & (MS_I_VERSION | MS_SILENT))
    return refuse("/options: \"iversion\" and \"silent\" are for mounts of config.json only");
  if (!mount.bind && mount.is_id_mapped())
    return refuse("/uidMappings: only a bind can be id-mapped");
  if (mount.is_id_mapped() && mount.id_map.empty() &&
      !config.namespaces.contains(NamespaceKind::kUser))
    return refuse(
        "/options: \"idmap\" without uidMappings and gidMappings takes the container's, which has "
        "no user namespace");
  return {};
}

/// All mount points are opened before anything is mounted, so that none may lie below another one.
Result<void> check_mounts(const std::vector<LiveMount>& mounts, const bundle::Config& config) {
  for (std::size_t index = 0; index < mounts.size(); ++index) {
    const linux::Mount& mount = mounts[index].mount;
    if (auto checked = check_mount(mount, config); !checked)
      return refuse("/{}{}", index, checked.error().message());
    const std::string path = linux::clean(mount.destination);
    for (std::size_t earlier = 0; earlier < index; ++earlier) {
      const std::string other = linux::clean(mounts[earlier].mount.destination);
      if (linux::is_at_or_below(path, other) || linux::is_at_or_below(other, path))
        return refuse(
            "/{}/destination: {} lies at, above or below {} of /{}: add it by another call", index,
            path, other, earlier);
    }
  }
  return {};
}

/// Attributes of a mount that is not attached yet can be set since Linux 5.12.
Result<void> check_kernel() {
  const auto called = linux::sys::mount_setattr(Fd{}, 0, mount_attr{});
  if (called || called.error().number() != ENOSYS) return {};
  return refuse("mounts into a running container: {}",
                linux::why_absent(SYS_mount_setattr, "mount_setattr, Linux 5.12"));
}

Result<void> check_container(const Container& container) {
  OCIRUN_TRY(refuse_foreign(container.directory()));
  const Status status = container.status();
  if (!can_update(status))
    return refuse(
        "cannot change the mounts of a container that is {}: it must be created, running or paused",
        status_name(status));
  if (!container.record().mounts_on_host) return {};
  return refuse("the container has no mount namespace of its own: mount on the host instead");
}

/// The record of a container, whose lock the caller holds. Errors: the recorded mounts are in
/// another mount namespace than the container is now in. Of an empty record, the namespace is that
/// of now.
Result<AddedMounts> record_for(const Container& container, const ContainerEntry& entry) {
  OCIRUN_TRY_ASSIGN(AddedMounts record,
                    bundle::read_added_mounts(container.directory().descriptor()));
  OCIRUN_TRY_ASSIGN(const std::uint64_t now, entry.mount_namespace());
  if (record.mounts.empty()) record.mount_namespace = now;
  if (record.mount_namespace == now) return record;
  return refuse(
      "the container's first process has left the mount namespace in which `mounts add` has "
      "mounted: only the end of the container takes those mounts away");
}

/// The mounts of a record, parsed.
Result<std::vector<LiveMount>> parsed(const AddedMounts& added, const Container& container) {
  const bundle::ContainerRecord& record = container.record();
  std::vector<LiveMount> mounts;
  for (const AddedMount& mount : added.mounts) {
    std::vector<std::string> warnings;
    OCIRUN_TRY_ASSIGN(std::vector<LiveMount> one,
                      bundle::parse_mounts("[" + mount.document + "]", HostPath(record.bundle),
                                           HostPath(record.rootfs), warnings));
    if (one.size() != 1) return refuse("{}: is damaged", bundle::kAddedMounts);
    mounts.push_back(std::move(one.front()));
  }
  return mounts;
}

/// The indices of the mounts at `destinations`. Of several mounts at one place, the last one is on
/// top, and is taken first.
Result<std::vector<std::size_t>> choose(const std::vector<LiveMount>& present,
                                        const std::vector<RootfsPath>& destinations,
                                        const std::string& id) {
  std::vector<std::size_t> chosen;
  for (const RootfsPath& destination : destinations) {
    const std::string path = linux::clean(destination);
    std::optional<std::size_t> at;
    for (std::size_t index = 0; index < present.size(); ++index)
      if (linux::clean(present[index].mount.destination) == path &&
          std::ranges::find(chosen, index) == chosen.end())
        at = index;
    if (!at)
      return refuse(
          "{}: `mounts add` has made no mount there; `ocirun mounts list {}` shows what it has "
          "made",
          path, id);
    chosen.push_back(*at);
  }
  return chosen;
}

/// Unmounts the mounts of `record` with these indices, in order, and writes the record of those
/// that are left. Errors: a mount is still there.
Result<void> take_back(const Container& container, const ContainerEntry& entry, AddedMounts& record,
                       std::vector<std::size_t> indices,
                       const std::function<void(std::size_t)>& on_missing) {
  std::ranges::sort(indices);
  std::vector<OldMount> old;
  for (const std::size_t index : indices)
    old.push_back({.id = record.mounts[index].id, .number = record.mounts[index].number});
  OCIRUN_TRY_ASSIGN(ContainerChild child,
                    ContainerChild::run("unmount in the container", entry.descriptors(),
                                        [&](Rollback&) { return take_mounts(entry, old); }));
  child.keep();
  Result<void> taken;
  std::string_view lines = child.told();
  for (const std::size_t index : std::views::reverse(indices)) {
    const std::string_view line = linux::cut(lines, '\n');
    if (!line.empty() && line != kWasMissing) {
      taken = refuse("{}", line);
      break;
    }
    if (line == kWasMissing) on_missing(index);
    record.mounts.erase(record.mounts.begin() + static_cast<std::ptrdiff_t>(index));
  }
  OCIRUN_TRY(bundle::write_added_mounts(container.directory().descriptor(), record));
  return taken;
}

}  // namespace

Result<std::vector<LiveMount>> added_mounts(const Container& container) {
  OCIRUN_TRY_ASSIGN(const AddedMounts record,
                    bundle::read_added_mounts(container.directory().descriptor()));
  return parsed(record, container);
}

Result<void> add_mounts(Container& container, const std::vector<LiveMount>& mounts) {
  OCIRUN_TRY(check_kernel());
  OCIRUN_TRY(container.lock_and_reload());
  OCIRUN_TRY(check_container(container));
  OCIRUN_TRY_ASSIGN(bundle::Config config, container.config());
  OCIRUN_TRY(check_mounts(mounts, config));
  if (!linux::selinux_enabled()) config.mount_label.clear();
  OCIRUN_TRY_ASSIGN(const ContainerEntry entry, ContainerEntry::find(container, config));
  OCIRUN_TRY_ASSIGN(AddedMounts record, record_for(container, entry));
  std::vector<LiveTree> trees;
  std::vector<std::size_t> added;
  std::vector<Fd> kept = entry.descriptors();
  for (std::size_t index = 0; index < mounts.size(); ++index) {
    const linux::Mount& mount = mounts[index].mount;
    OCIRUN_TRY_ASSIGN(UniqueFd tree, within(make_live_tree(entry, mount), "/{}: {}", index,
                                            mount.destination.string()));
    OCIRUN_TRY_ASSIGN(const std::uint64_t id, linux::sys::mount_id(tree));
    OCIRUN_TRY_ASSIGN(const std::uint64_t number, linux::mount_of(entry.procfs(), tree));
    kept.push_back(tree);
    trees.push_back({.mount = mount, .tree = std::move(tree), .number = number});
    added.push_back(record.mounts.size());
    record.mounts.push_back({.id = id, .number = number, .document = mounts[index].document});
  }
  const SignalsWait wait;  // from here on a kill between two steps would leave a part
  OCIRUN_TRY(bundle::write_added_mounts(container.directory().descriptor(), record));
  auto child = ContainerChild::run("mount into the container", kept,
                                   [&](Rollback& undo) -> Result<std::string> {
                                     OCIRUN_TRY(attach_trees(entry, trees, undo));
                                     return std::string();
                                   });
  if (child) {
    child->keep();
    return {};
  }
  // The child has undone what it did, or was killed in the middle.
  ignore(take_back(container, entry, record, added, [](std::size_t) {}));
  return std::unexpected(std::move(child).error());
}

Result<void> remove_mounts(Container& container, const std::vector<RootfsPath>& destinations,
                           const std::function<void(const std::string&)>& warn) {
  OCIRUN_TRY(container.lock_and_reload());
  OCIRUN_TRY(check_container(container));
  OCIRUN_TRY_ASSIGN(const bundle::Config config, container.config());
  const SignalsWait wait;
  OCIRUN_TRY_ASSIGN(const ContainerEntry entry, ContainerEntry::find(container, config));
  OCIRUN_TRY_ASSIGN(AddedMounts record, record_for(container, entry));
  OCIRUN_TRY_ASSIGN(const std::vector<LiveMount> present, parsed(record, container));
  OCIRUN_TRY_ASSIGN(std::vector<std::size_t> chosen,
                    choose(present, destinations, container.record().id));
  return take_back(container, entry, record, std::move(chosen), [&](std::size_t index) {
    warn(fmt::format("{}: was not mounted any more",
                     linux::in_one_line(present[index].mount.destination.string())));
  });
}

}  // namespace ocirun::runtime
