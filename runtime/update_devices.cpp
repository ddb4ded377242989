#include "runtime/update_devices.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>

#include "linux/exec.hpp"
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

bool is_ready(Fd fd) {
  pollfd watched{fd.value, POLLIN, 0};
  return ::poll(&watched, 1, kPatience) == 1;
}

struct NodePlan {
  const bundle::Config& config;
  std::vector<linux::HostDevice> added;
  const std::vector<RootfsPath>& removed;
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
  if (!linux::is_alive(container.init())) return refuse("container not running");
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
  std::string removed;  // "c10:229 "
  for (const RootfsPath& path : plan.removed) {
    TRY_ASSIGN(const linux::Device device, changes.remove(path));
    removed += fmt::format("{}{}:{} ", static_cast<char>(device.kind), device.major, device.minor);
  }
  TRY(parent.send(static_cast<std::uint8_t>(Word::kDone), removed));
  const auto answer = parent.receive();
  if (answer && !answer->end_of_stream && static_cast<Word>(answer->tag) == Word::kKeep)
    changes.keep();
  return {};
}

[[noreturn]] void run_child(const NodePlan& plan, const linux::MessageSocket& parent) noexcept {
  ::prctl(PR_SET_NAME, "ocirun:update");
  ::prctl(PR_SET_DUMPABLE, 0);
  keep_only_own_descriptors(plan, parent);
  if (const Result<void> changed = change_nodes(plan, parent); !changed)
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

/// "c10:229 b8:0 ", as the child tells which devices it removed.
std::vector<cgroups::DeviceRule> denials_of(std::string_view text) {
  std::vector<cgroups::DeviceRule> rules;
  for (std::size_t blank = 0; (blank = text.find(' ')) != std::string_view::npos;
       text.remove_prefix(blank + 1)) {
    linux::Device device;
    device.kind = text[0] == 'b' ? linux::Device::Kind::kBlock : linux::Device::Kind::kCharacter;
    const char* const end = text.data() + blank;
    const auto major = std::from_chars(text.data() + 1, end, device.major);
    if (major.ptr != end) std::from_chars(major.ptr + 1, end, device.minor);
    rules.push_back(rule_for(device, false));
  }
  return rules;
}

}  // namespace

Result<DeviceUpdate> DeviceUpdate::begin(const Container& container, const bundle::Config& config,
                                         const UpdateRequest& request) {
  TRY_ASSIGN(linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  NodePlan plan{
      .config = config,
      .added = {},
      .removed = request.removed_devices,
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
  if (!is_ready(update.socket_.fd())) {
    ::kill(update.child_.pid, SIGKILL);
    return fail(ETIMEDOUT, "change device nodes: a filesystem of the container does not answer");
  }
  TRY_ASSIGN(const linux::Packet packet, update.socket_.receive());
  if (packet.end_of_stream)
    return refuse("the process that changes the container's device nodes died");
  if (static_cast<Word>(packet.tag) == Word::kFailed)
    return std::unexpected(parse_error_bytes(packet.payload));
  for (const cgroups::DeviceRule& rule : denials_of(packet.payload)) update.rules_.push_back(rule);
  return update;
}

void DeviceUpdate::keep() {
  static_cast<void>(socket_.send(static_cast<std::uint8_t>(Word::kKeep)));
}

DeviceUpdate::~DeviceUpdate() {
  if (child_.pid == 0) return;
  socket_.close();
  if (child_.pidfd && !is_ready(child_.pidfd)) ::kill(child_.pid, SIGKILL);
  static_cast<void>(linux::wait_for_child(child_.pid));
}

}  // namespace ocirun::runtime
