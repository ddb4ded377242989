#include "runtime/commands/update_devices.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "linux/base/memory_reserve.hpp"
#include "linux/process/exec.hpp"
#include "runtime/init/join.hpp"
#include "runtime/protocol/protocol.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

// The child sends Done or Failed. The parent answers with Keep, or closes the socket.
enum class Word : std::uint8_t { kDone = 1, kFailed, kKeep };

constexpr std::chrono::seconds kPatience{10};
constexpr std::array kJoined{NamespaceKind::kUser, NamespaceKind::kMount};

bool has_packet(const linux::MessageSocket& socket) {
  pollfd watched{socket.fd().value, POLLIN, 0};
  return ::poll(&watched, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) == 1;
}

struct NodePlan {
  const bundle::Config& config;
  std::vector<linux::HostDevice> added;
  std::vector<linux::Device> removed;
  ContainerNamespaces namespaces;
  HostPath root;  // the path of the container's root after the namespaces are joined
  linux::Procfs procfs;
};

void keep_only_own_descriptors(const NodePlan& plan, const linux::MessageSocket& parent) {
  std::vector<Fd> keep{parent.fd(), plan.procfs.fd()};
  for (const Fd fd : plan.namespaces.descriptors()) keep.push_back(fd);
  for (const linux::HostDevice& device : plan.added)
    if (device.tree) keep.push_back(*device.tree);
  linux::close_descriptors_but(keep);
}

Result<void> change_device_nodes(const NodePlan& plan, const linux::MessageSocket& parent) {
  OCIRUN_TRY(enter_container(plan.namespaces, plan.config));
  OCIRUN_TRY_ASSIGN(const linux::SafeDir root, linux::SafeDir::open_root(plan.root));
  ::umask(0);
  linux::NodeChanges changes(root, plan.procfs,
                             plan.config.namespaces.contains(NamespaceKind::kUser)
                                 ? linux::NodeSource::kBindHostNode
                                 : linux::NodeSource::kMakeNode);
  for (const linux::HostDevice& device : plan.added) OCIRUN_TRY(changes.add(device));
  // A failed removal is no error, because the device rules deny the device. Otherwise a container
  // could prevent a revocation by changes in /dev.
  std::string left;
  for (const linux::Device& device : plan.removed) {
    const auto removed = changes.remove(device);
    if (!removed && removed.error().number() == ENOENT) continue;
    if (!removed || !*removed) left += (left.empty() ? "" : ", ") + device.path.string();
  }
  OCIRUN_TRY(parent.send(static_cast<std::uint8_t>(Word::kDone), left));
  const auto answer = parent.receive();
  if (answer && !answer->end_of_stream && static_cast<Word>(answer->tag) == Word::kKeep)
    changes.keep();
  return {};
}

[[noreturn]] void run_child(const NodePlan& plan, const linux::MessageSocket& parent) noexcept {
  ::prctl(PR_SET_NAME, "ocirun:update");
  ::prctl(PR_SET_DUMPABLE, 0);
  keep_only_own_descriptors(plan, parent);
  if (const Result<void> changed =
          linux::within_memory([&] { return change_device_nodes(plan, parent); });
      !changed)
    ignore(parent.send(static_cast<std::uint8_t>(Word::kFailed), error_bytes(changed.error())));
  ::_exit(0);
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
  OCIRUN_TRY_ASSIGN(auto ends, linux::MessageSocket::make_pair());
  OCIRUN_TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ends.first.close();
    run_child(plan, ends.second);
  }
  update.child_ = std::move(child);
  update.socket_ = std::move(ends.first);
  ends.second.close();
  if (!has_packet(update.socket_)) {
    update.is_stuck_ = true;
    return refuse("change device nodes: a filesystem of the container has not answered for {} s",
                  kPatience.count());
  }
  OCIRUN_TRY_ASSIGN(const linux::Packet packet, update.socket_.receive());
  if (packet.end_of_stream)
    return refuse("the process that changes the container's device nodes died");
  if (static_cast<Word>(packet.tag) == Word::kFailed)
    return std::unexpected(parse_error_bytes(packet.payload));
  update.left_nodes_ = packet.payload;
  return update;
}

void DeviceUpdate::keep() { ignore(socket_.send(static_cast<std::uint8_t>(Word::kKeep))); }

DeviceUpdate::~DeviceUpdate() {
  if (child_.pid == 0) return;
  socket_.close();
  if (is_stuck_ || !linux::collect_child(child_, kPatience)) linux::kill_child(child_);
}

}  // namespace ocirun::runtime
