#include "runtime/init/rootfs.hpp"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount_point.hpp"
#include "linux/mounts/root_namespace.hpp"
#include "linux/mounts/terminal.hpp"
#include "linux/process/lsm.hpp"
#include "runtime/protocol/protocol.hpp"
#include "runtime/protocol/root_rules.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

// Asks the parent for a clone of the source of mount `index`, or of the rootfs (kRootfsIndex), or
// for the filesystem of mount `index`. Returns an empty descriptor if the parent may not open or
// make it.
Result<UniqueFd> ask_for_tree(const linux::MessageSocket& parent, int index) {
  OCIRUN_TRY_ASSIGN(linux::Packet packet,
                    ask(parent, Message::kOpenMount, fmt::format("{}", index)));
  if (packet.descriptors.empty()) return UniqueFd();
  return std::move(packet.descriptors.front());
}

// Whether the user namespace of init may be the cause of `error`. In a user namespace, init cannot
// search closed directories of users without a mapping. Root of the host can search such
// directories, so the parent may succeed.
bool is_out_of_reach(const bundle::Config& config, const Error& error) {
  return config.namespaces.contains(NamespaceKind::kUser) &&
         (error.number() == EACCES || error.number() == EPERM);
}

// Whether an earlier mount of the container covers the source of `mount`. `tree` was cloned from
// that source before the container had mounts. False if the user namespace cannot reach the source.
Result<bool> is_covered(const bundle::Config& config, const linux::Mount& mount, Fd tree) {
  const auto source = linux::sys::open(mount.source.c_str(), O_PATH);
  if (is_missing(source)) return true;
  if (!source && is_out_of_reach(config, source.error())) return false;
  if (!source) return std::unexpected(source.error());
  OCIRUN_TRY_ASSIGN(const bool same, linux::sys::is_same_file(*source, tree));
  return !same;
}

// The name of a mount in errors. ocirun adds the mount of the notify socket, which has no index in
// config.json.
std::string name_of(const linux::Mount& mount, std::size_t index) {
  if (mount.destination.string() == kNotifySocketInContainer) return "NOTIFY_SOCKET";
  return fmt::format("/mounts/{}", index);
}

// Whether the parent should make the bind mount, so that the kernel locks the attributes that
// protect the content. If init made the mount, a program with CAP_SYS_ADMIN in the container's user
// namespace could clear these attributes.
bool wants_lock(const bundle::Config& config, const linux::Mount& mount) {
  constexpr std::uint64_t kProtection =
      MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  const std::uint64_t set = mount.attributes.set | mount.recursive_attributes.set;
  return config.namespaces.contains(NamespaceKind::kUser) && mount.bind && !mount.remount &&
         !linux::is_dev_directory(linux::clean_path(mount.destination.string())) &&
         (set & kProtection) != 0;
}

// The kinds of namespaces that a container with a user namespace joins. Init's user namespace may
// have no rights in the namespaces that are joined.
std::vector<NamespaceKind> joined_in_user_namespace(const bundle::Config& config) {
  std::vector<NamespaceKind> kinds;
  if (!config.namespaces.contains(NamespaceKind::kUser)) return kinds;
  std::ranges::copy_if(linux::kNamespaceKinds, std::back_inserter(kinds),
                       [&](NamespaceKind kind) { return config.namespaces.joins(kind); });
  return kinds;
}

// The mount for a tree from the parent. The parent has already set the attributes of such a tree.
linux::Mount without_attributes(linux::Mount mount) {
  mount.attributes = mount.recursive_attributes = {};
  return mount;
}

// Called for a container without a mount namespace, whose rootfs is a mount on the host. `delete`
// unmounts the rootfs with all mounts below. A mount on top of the rootfs would stay on the host.
Result<void> refuse_mount_on_root(const bundle::Config& config) {
  for (std::size_t index = 0; index < config.mounts.size(); ++index) {
    const linux::Mount& mount = config.mounts[index];
    if (!mount.remount && linux::clean_path(mount.destination.string()) == "/")
      return refuse(
          "/mounts/{}: a mount on / wants a mount namespace of the container's own: add "
          "{{\"type\": \"mount\"}} to /linux/namespaces",
          index);
  }
  return {};
}

}  // namespace

Result<RootfsBuild> build_rootfs(const InitPlan& plan, const linux::MessageSocket& parent) {
  if (plan.root_namespace) {
    OCIRUN_TRY_ASSIGN(std::optional<RootfsBuild> build,
                      RootfsBuild::try_root_namespace(plan, parent));
    if (build) return *std::move(build);
    if (::unshare(CLONE_NEWNS) != 0) return fail(errno, "make the mount namespace");
    plan.step.enter(InitStep::kRoot);
  }
  OCIRUN_TRY_ASSIGN(RootfsBuild build, RootfsBuild::begin(plan, parent));
  OCIRUN_TRY(build.fill(plan, parent));
  return build;
}

Result<std::optional<RootfsBuild>> RootfsBuild::try_root_namespace(
    const InitPlan& plan, const linux::MessageSocket& parent) {
  auto procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  if (!procfs) return std::nullopt;
  auto sources = open_host_sources(plan.config, *procfs);
  const auto host = linux::MountView::of_caller(*procfs);
  if (!sources || !host) return std::nullopt;
  auto build = begin_in_root_namespace(plan, *std::move(procfs), *std::move(sources));
  if (build && build->fill(plan, parent)) return *std::move(build);
  OCIRUN_TRY(host->restore());
  return std::nullopt;
}

Result<RootfsBuild> RootfsBuild::begin_in_root_namespace(const InitPlan& plan, linux::Procfs procfs,
                                                         HostSources sources) {
  OCIRUN_TRY(linux::enter_mount_namespace(plan.root_namespace));
  OCIRUN_TRY(linux::isolate_mount_tree(plan.config.rootfs_propagation));
  OCIRUN_TRY_ASSIGN(UniqueFd root, linux::sys::open("/", O_PATH | O_DIRECTORY));
  RootfsBuild build(linux::SafeDir(std::move(root)), std::move(procfs));
  build.in_root_namespace_ = true;
  build.early_ = std::move(sources.binds);
  build.null_mount_ = std::move(sources.null_mount);
  build.mount_label_ = std::move(sources.mount_label);
  return build;
}

Result<RootfsBuild> RootfsBuild::begin(const InitPlan& plan, const linux::MessageSocket& parent) {
  const bundle::Config& config = plan.config;
  linux::AnnounceMount announce;  // tells the parent of a mount that outlives init
  if (!plan.has_own_mount_tree()) {
    OCIRUN_TRY(refuse_mount_on_root(config));
    announce = [&parent](Fd mount) -> Result<void> {
      OCIRUN_TRY_ASSIGN(const std::uint64_t id, linux::sys::mount_id(mount));
      OCIRUN_TRY(ask(parent, Message::kRootMount, fmt::format("{}", id)));
      return {};
    };
  }
  OCIRUN_TRY_ASSIGN(linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  std::vector<UniqueFd> early(config.mounts.size());
  for (std::size_t index = 0; index < config.mounts.size(); ++index)
    if (linux::wants_early_open(config.mounts[index]) && !config.mounts[index].is_id_mapped()) {
      auto tree = linux::open_bind(procfs, config.mounts[index]);
      if (tree) early[index] = *std::move(tree);
      // After these errors, attach_mounts() tries again: the parent may reach a source that init
      // cannot reach, and an earlier mount of the container may contain a source that is missing.
      else if (!is_out_of_reach(config, tree.error()) && !is_missing(tree))
        return within(Result<RootfsBuild>(std::unexpected(std::move(tree).error())), "/mounts/{}",
                      index);
    }

  // A container without a mount namespace leaves the host's mount tree unchanged (L-4).
  if (plan.has_own_mount_tree()) OCIRUN_TRY(linux::isolate_mount_tree(config.rootfs_propagation));
  auto root = linux::attach_rootfs(config.root_path, UniqueFd(), procfs, config.rootfs_propagation,
                                   announce);
  if (!root && is_out_of_reach(config, root.error())) {
    OCIRUN_TRY_ASSIGN(UniqueFd tree, ask_for_tree(parent, kRootfsIndex));
    if (tree)
      root = linux::attach_rootfs(config.root_path, std::move(tree), procfs,
                                  config.rootfs_propagation);
  }
  if (!root)
    return within(Result<RootfsBuild>(std::unexpected(root.error())),
                  "/root/path: " + config.root_path.string());
  RootfsBuild build(std::move(*root), std::move(procfs));
  build.early_ = std::move(early);
  if (!config.mount_label.empty() && linux::selinux_enabled())
    build.mount_label_ = config.mount_label;
  if (!config.masked_paths.empty()) {
    OCIRUN_TRY_ASSIGN(build.null_mount_, linux::open_null_mount());
  }
  return build;
}

Result<void> RootfsBuild::fill(const InitPlan& plan, const linux::MessageSocket& parent) {
  OCIRUN_TRY(attach_mounts(plan, parent));
  plan.step.enter(InitStep::kDevices);
  return make_devices(plan.config);  // after the mounts, which may include /dev
}

Result<void> RootfsBuild::attach_mounts(const InitPlan& plan, const linux::MessageSocket& parent) {
  const bundle::Config& config = plan.config;
  const std::vector<NamespaceKind> joined = joined_in_user_namespace(config);
  int current = 0;  // the index of the mount that is made
  const linux::MountContext context{
      .root = *root_,
      .procfs = *procfs_,
      .mount_label = mount_label_,
      .in_user_namespace = config.namespaces.contains(NamespaceKind::kUser),
      .own_cgroup_namespace = config.namespaces.creates(NamespaceKind::kCgroup),
      .shares_network = !config.namespaces.creates(NamespaceKind::kNetwork),
      .shares_pids = !config.namespaces.contains(NamespaceKind::kPid),
      .shares_ipc = !config.namespaces.contains(NamespaceKind::kIpc),
      .own_ipc = config.namespaces.creates(NamespaceKind::kIpc),
      .in_root_namespace = in_root_namespace_,
      .cgroups = plan.cgroup_hierarchies,
      .joined = joined,
      .ask_parent = [&] { return ask_for_tree(parent, current); }};
  for (std::size_t index = 0; index < config.mounts.size(); ++index) {
    current = static_cast<int>(index);
    const linux::Mount& mount = config.mounts[index];
    plan.step.enter(InitStep::kMounts, current, mount.destination.string());
    if (early_[index] && !in_root_namespace_) {
      OCIRUN_TRY_ASSIGN(const bool covered,
                        within(is_covered(config, mount, early_[index]), name_of(mount, index)));
      if (covered) early_[index].reset();
    }
    UniqueFd from_parent;
    const bool is_the_parents = mount.is_id_mapped() || wants_lock(config, mount);
    if (is_the_parents) {
      OCIRUN_TRY_ASSIGN(from_parent, ask_for_tree(parent, current));
    }
    auto made = from_parent
                    ? linux::make_mount(context, without_attributes(mount), std::move(from_parent))
                    : linux::make_mount(context, mount, std::move(early_[index]));
    if (!made && mount.bind && !is_the_parents && is_out_of_reach(config, made.error())) {
      OCIRUN_TRY_ASSIGN(from_parent, ask_for_tree(parent, current));
      if (from_parent)
        made = linux::make_mount(context, without_attributes(mount), std::move(from_parent));
    }
    if (!made) return within(Result<void>(std::unexpected(made.error())), name_of(mount, index));
    if (*made) unfinished_.push_back(std::move(**made));
  }
  early_.clear();
  return {};
}

Result<void> RootfsBuild::make_devices(const bundle::Config& config) {
  // Engines expect that the runtime makes a missing working directory. Errors are ignored, because
  // chdir(2) will report the missing directory.
  if (config.process) ignore(root_->make_directories(RootfsPath(config.process->cwd)));
  if (brings_own_dev(config)) return {};
  const bool is_in_user_namespace = config.namespaces.contains(NamespaceKind::kUser);
  linux::DeviceMaker maker(*root_, *procfs_,
                           is_in_user_namespace ? linux::NodeSource::kBindHostNode
                           : in_root_namespace_ ? linux::NodeSource::kMakeNodeOnly
                                                : linux::NodeSource::kMakeNode);
  for (const linux::Device& device : linux::default_devices())
    if (std::ranges::find(config.devices, device.path, &linux::Device::path) ==
        config.devices.end())
      OCIRUN_TRY(maker.make(device));
  for (std::size_t index = 0; index < config.devices.size(); ++index)
    OCIRUN_TRY(within(maker.make(config.devices[index]), "/linux/devices/{}", index));
  return linux::make_device_links(*root_);
}

Result<void> RootfsBuild::open_terminal(const bundle::Config& config,
                                        const linux::MessageSocket& parent) {
  if (!config.process || !config.process->terminal) return {};
  OCIRUN_TRY_ASSIGN(const linux::Terminal terminal,
                    within(linux::open_terminal(*root_, *procfs_, config.process->console_size,
                                                config.process->user.uid),
                           "/process/terminal"));
  const Fd master = terminal.master;
  OCIRUN_TRY(tell(parent, Message::kTerminal, {}, std::span(&master, 1)));
  OCIRUN_TRY(within(linux::attach_console(*root_, *procfs_, terminal.slave), "/process/terminal"));
  return linux::become_controlling_terminal(terminal.slave);
}

Result<void> RootfsBuild::finish_mounts() {
  for (const linux::UnfinishedMount& unfinished : unfinished_)
    OCIRUN_TRY(linux::finish_mount(*procfs_, unfinished));
  unfinished_.clear();
  return {};
}

Result<void> RootfsBuild::change_root(const InitPlan& plan) {
  if (in_root_namespace_) return linux::sys::chdir("/");  // the rootfs is the root there already
  if (!plan.has_own_mount_tree()) return linux::chroot_into(*root_);
  return plan.pivot ? linux::pivot_into(*root_) : linux::move_into(*root_, *procfs_);
}

Result<void> RootfsBuild::restrict_paths(const InitPlan& plan) {
  const bundle::Config& config = plan.config;
  if (config.root_readonly) OCIRUN_TRY(linux::make_root_read_only(*procfs_));
  if (!config.readonly_paths.empty())
    OCIRUN_TRY(linux::make_paths_read_only(*root_, *procfs_, config.readonly_paths));
  if (!config.masked_paths.empty())
    OCIRUN_TRY(linux::mask_paths(*root_, *procfs_, config.masked_paths, null_mount_, mount_label_));
  if (!plan.has_own_mount_tree()) return {};
  // The propagation is set last: the earlier steps clone mounts, and the kernel refuses to clone an
  // unbindable mount.
  return linux::set_root_propagation(config.rootfs_propagation, config.rootfs_propagation_recursive
                                                                    ? linux::Recursion::kTree
                                                                    : linux::Recursion::kTop);
}

void RootfsBuild::close() {
  root_.reset();
  procfs_.reset();
  null_mount_.reset();
}

}  // namespace ocirun::runtime
