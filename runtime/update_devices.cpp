#include "runtime/update_devices.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "linux/exec.hpp"
#include "linux/memory_reserve.hpp"
#include "linux/syscalls.hpp"
#include "runtime/init_namespaces.hpp"
#include "runtime/join.hpp"
#include "runtime/protocol.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

// Our half of the conversation: the child says Done or Failed, we say Keep or nothing.
enum class Word : std::uint8_t { kDone = 1, kFailed, kKeep };

constexpr int kPatience = 10'000;  // ms

constexpr int kPatienceWithTheKilled = 1000;

bool is_ready(Fd fd, int patience) {
  pollfd watched{fd.value, POLLIN, 0};
  return ::poll(&watched, 1, patience) == 1;
}

struct NodePlan {
  const bundle::Config& config;
  std::vector<linux::HostDevice> added;
  std::vector<linux::Device> removed;
  std::vector<linux::PinnedNamespace> pinned;
  HostPath root;  // the container's, once the namespaces are joined
  linux::Procfs procfs;
};

Result<std::vector<linux::PinnedNamespace>> pin_mount_namespace(const Container& container,
                                                                const bundle::Config& config,
                                                                const linux::Procfs& procfs) {
  std::vector<linux::PinnedNamespace> pinned;
  for (const NamespaceKind kind : {NamespaceKind::kUser, NamespaceKind::kMount}) {
    if (!config.namespaces.contains(kind)) continue;
    const std::string path = fmt::format("{}/ns/{}", container.init().pid, linux::proc_name(kind));
    TRY_ASSIGN(UniqueFd fd, linux::sys::openat(procfs.fd(), path.c_str(), O_RDONLY | O_CLOEXEC));
    pinned.push_back({kind, std::move(fd)});
  }
  // They are init's only if init is still there after they were opened.
  TRY_ASSIGN(const bool alive, linux::find_alive(container.init()));
  if (!alive) return refuse("container not running");
  return pinned;
}

void keep_only_own_descriptors(const NodePlan& plan, const linux::MessageSocket& parent) {
  std::vector<Fd> keep{parent.fd(), plan.procfs.fd()};
  for (const linux::PinnedNamespace& pinned : plan.pinned) keep.push_back(pinned.fd);
  for (const linux::HostDevice& device : plan.added)
    if (device.tree) keep.push_back(device.tree);
  linux::close_descriptors_but(keep);
}

Result<void> enter_container(const NodePlan& plan) {
  const bool changes_user = plan.config.namespaces.contains(NamespaceKind::kUser);
  return join_namespaces(plan.pinned, changes_user, [&]() -> Result<void> {
    TRY(join_user_namespace(plan.pinned));
    return changes_user ? become_namespace_root(plan.config) : Result<void>{};
  });
}

Result<void> change_nodes(const NodePlan& plan, const linux::MessageSocket& parent) {
  TRY(enter_container(plan));
  TRY_ASSIGN(const linux::SafeDir root, linux::SafeDir::open_root(plan.root));
  ::umask(0);
  linux::NodeChanges changes(root, plan.procfs,
                             plan.config.namespaces.contains(NamespaceKind::kUser)
                                 ? linux::NodeSource::kBindHostNode
                                 : linux::NodeSource::kMakeNode);
  for (const linux::HostDevice& device : plan.added) TRY(changes.add(device));
  // The rules deny them in any case: a container must not hold a revocation up by what it does to
  // its /dev.
  std::string left;
  for (const linux::Device& device : plan.removed) {
    const auto removed = changes.remove(device);
    if (!removed && removed.error().number() == ENOENT) continue;
    if (!removed || !*removed) left += (left.empty() ? "" : ", ") + device.path.string();
  }
  TRY(parent.send(static_cast<std::uint8_t>(Word::kDone), left));
  const auto answer = parent.receive();
  if (answer && !answer->end_of_stream && static_cast<Word>(answer->tag) == Word::kKeep)
    changes.keep();
  return {};
}

[[noreturn]] void run_child(const NodePlan& plan, const linux::MessageSocket& parent) noexcept {
  ::prctl(PR_SET_NAME, "ocirun:update");
  ::prctl(PR_SET_DUMPABLE, 0);
  keep_only_own_descriptors(plan, parent);
  if (const Result<void> changed = linux::within_memory([&] { return change_nodes(plan, parent); });
      !changed)
    static_cast<void>(
        parent.send(static_cast<std::uint8_t>(Word::kFailed), error_bytes(changed.error())));
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
  TRY_ASSIGN(linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  NodePlan plan{
      .config = config,
      .added = {},
      .removed = {},
      .pinned = {},
      .root = HostPath(container.record().mounts_on_host ? container.record().rootfs : "/"),
      .procfs = std::move(procfs)};
  DeviceUpdate update;
  for (const DeviceGrant& grant : request.added_devices) {
    TRY_ASSIGN(linux::HostDevice device, linux::open_host_device(grant.host, grant.path));
    cgroups::DeviceRule rule = rule_for(device.device, true);
    rule.read = grant.read;
    rule.write = grant.write;
    rule.mknod = grant.mknod;
    update.rules_.push_back(rule);
    plan.added.push_back(std::move(device));
  }
  // The number is the host's to tell: the container may have put another node at that path.
  for (const DeviceGrant& grant : request.removed_devices) {
    TRY_ASSIGN(linux::HostDevice device, linux::open_host_device(grant.host, grant.path));
    update.rules_.push_back(rule_for(device.device, false));
    plan.removed.push_back(std::move(device.device));
  }
  TRY_ASSIGN(plan.pinned, pin_mount_namespace(container, config, plan.procfs));
  TRY_ASSIGN(auto ends, linux::MessageSocket::make_pair());
  TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ends.first.close();
    run_child(plan, ends.second);
  }
  update.child_ = std::move(child);
  update.socket_ = std::move(ends.first);
  ends.second.close();
  if (!is_ready(update.socket_.fd(), kPatience)) {
    update.is_stuck_ = true;
    return refuse("change device nodes: a filesystem of the container has not answered for {} s",
                  kPatience / 1000);
  }
  TRY_ASSIGN(const linux::Packet packet, update.socket_.receive());
  if (packet.end_of_stream)
    return refuse("the process that changes the container's device nodes died");
  if (static_cast<Word>(packet.tag) == Word::kFailed)
    return std::unexpected(parse_error_bytes(packet.payload));
  update.left_nodes_ = packet.payload;
  return update;
}

void DeviceUpdate::keep() {
  static_cast<void>(socket_.send(static_cast<std::uint8_t>(Word::kKeep)));
}

// A filesystem of the container's may hold the child up even when it is killed: then it is left to
// whoever takes our children over. It holds nothing of ours.
DeviceUpdate::~DeviceUpdate() {
  if (child_.pid == 0) return;
  socket_.close();
  if (is_stuck_ || !is_ready(child_.pidfd, kPatience)) ::kill(child_.pid, SIGKILL);
  if (is_ready(child_.pidfd, kPatienceWithTheKilled))
    static_cast<void>(linux::wait_for_child(child_.pid));
}

}  // namespace ocirun::runtime
