#include "runtime/commands/update_devices.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>

#include "runtime/init/join.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

constexpr std::array kJoined{NamespaceKind::kUser, NamespaceKind::kMount};

struct NodePlan {
  const bundle::Config& config;
  std::vector<linux::HostDevice> added;
  std::vector<linux::Device> removed;
  ContainerNamespaces namespaces;
  HostPath root;  // the path of the container's root after the namespaces are joined
  linux::Procfs procfs;
};

std::vector<Fd> descriptors_of(const NodePlan& plan) {
  std::vector<Fd> keep{plan.procfs.fd()};
  for (const Fd fd : plan.namespaces.descriptors()) keep.push_back(fd);
  for (const linux::HostDevice& device : plan.added)
    if (device.tree) keep.push_back(*device.tree);
  return keep;
}

/// What must live until the changes are undone.
struct NodeWork {
  linux::SafeDir root;
  std::optional<linux::NodeChanges> changes;
};

/// Returns the paths of the nodes that could not be removed.
Result<std::string> change_device_nodes(const NodePlan& plan, Rollback& undo) {
  OCIRUN_TRY(enter_container(plan.namespaces, plan.config));
  OCIRUN_TRY_ASSIGN(linux::SafeDir root, linux::SafeDir::open_root(plan.root));
  ::umask(0);
  const auto work = std::make_shared<NodeWork>(std::move(root), std::nullopt);
  work->changes.emplace(work->root, plan.procfs,
                        plan.config.namespaces.contains(NamespaceKind::kUser)
                            ? linux::NodeSource::kBindHostNode
                            : linux::NodeSource::kMakeNode);
  undo.add([work] { work->changes.reset(); });
  for (const linux::HostDevice& device : plan.added) OCIRUN_TRY(work->changes->add(device));
  // A failed removal is no error, because the device rules deny the device. Otherwise a container
  // could prevent a revocation by changes in /dev.
  std::string left;
  for (const linux::Device& device : plan.removed) {
    const auto removed = work->changes->remove(device);
    if (!removed && removed.error().number() == ENOENT) continue;
    if (!removed || !*removed) left += (left.empty() ? "" : ", ") + device.path.string();
  }
  return left;
}

cgroups::DeviceRule rule_for(const linux::Device& device, bool allow) {
  return {.allow = allow,
          .type = static_cast<char>(device.kind),
          .major = device.major,
          .minor = device.minor,
          .read = true,
          .write = true,
          .mknod = true};
}

}  // namespace

Result<DeviceUpdate> DeviceUpdate::begin(const Container& container, const bundle::Config& config,
                                         const UpdateRequest& request) {
  OCIRUN_TRY_ASSIGN(linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  NodePlan plan{
      .config = config,
      .added = {},
      .removed = {},
      .namespaces = {},
      .root = HostPath(container.record().mounts_on_host ? container.record().rootfs : "/"),
      .procfs = std::move(procfs)};
  DeviceUpdate update;
  for (const DeviceGrant& grant : request.added_devices) {
    OCIRUN_TRY_ASSIGN(linux::HostDevice device, linux::open_host_device(grant.host, grant.path));
    cgroups::DeviceRule rule = rule_for(device.device, true);
    rule.read = grant.read;
    rule.write = grant.write;
    rule.mknod = grant.mknod;
    update.rules_.push_back(rule);
    plan.added.push_back(std::move(device));
  }
  // The device number is read from the node of the host, because the container may have replaced
  // the node in the /dev of the container.
  for (const DeviceGrant& grant : request.removed_devices) {
    OCIRUN_TRY_ASSIGN(linux::HostDevice device, linux::open_host_device(grant.host, grant.path));
    update.rules_.push_back(rule_for(device.device, false));
    plan.removed.push_back(std::move(device.device));
  }
  OCIRUN_TRY_ASSIGN(plan.namespaces, find_container_namespaces(container.init(), config, kJoined));
  OCIRUN_TRY_ASSIGN(
      ContainerChild child,
      ContainerChild::run("change device nodes", descriptors_of(plan),
                          [&](Rollback& undo) { return change_device_nodes(plan, undo); }));
  update.child_.emplace(std::move(child));
  return update;
}

}  // namespace ocirun::runtime
