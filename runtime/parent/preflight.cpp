#include "runtime/parent/preflight.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/terminal.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/process/lsm.hpp"
#include "linux/resctrl/group.hpp"
#include "runtime/base/options.hpp"
#include "runtime/init/rootfs.hpp"
#include "runtime/parent/cgroup_choice.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

Result<UniqueFd> connect_console(const bundle::Config& config, const CreateRequest& request) {
  const bool terminal = config.process && config.process->terminal;
  if (request.terminal_keeper == TerminalKeeper::kCaller) return UniqueFd();
  if (terminal && !request.console_socket)
    return refuse(
        "/process/terminal: true wants --console-socket, where the terminal is sent to (or `run` "
        "without --detach; or false, for a program that needs no terminal)");
  if (!terminal && request.console_socket)
    return refuse(
        "--console-socket: /process/terminal must be true in config.json, or leave the option out");
  if (!terminal) return UniqueFd();
  return within(linux::connect_unix(*request.console_socket), "--console-socket");
}

Result<void> check_root(const bundle::Config& config) {
  const std::string& path = config.root_path.string();
  const auto fd = linux::sys::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd) return {};
  return fail(fd.error().number(), "/root/path: open {} as the root directory", path);
}

// M-2: a destination is a path in the container. This function warns of a destination that begins
// with the path of the rootfs on the host.
void warn_of_destinations(const bundle::Config& config, const Log& log) {
  const std::string& root = config.root_path.string();
  if (root == "/") return;
  for (std::size_t index = 0; index < config.mounts.size(); ++index) {
    const std::string& destination = config.mounts[index].destination.string();
    if (destination != root && !destination.starts_with(root + "/")) continue;
    log.warn(fmt::format(
        "/mounts/{}/destination: {} begins with the root filesystem's path on the host; "
        "a destination is a path in the container, so this mount is {}{} on the host",
        index, destination, root, destination));
  }
}

// Refuses new namespaces that the kernel would refuse to an ordinary user. The error of the kernel
// would come later, after warnings of missing capabilities.
Result<void> check_ordinary_user(const bundle::Config& config) {
  const std::uint64_t flags = config.namespaces.new_flags();
  if (::geteuid() == 0 || flags == 0 || config.namespaces.contains(NamespaceKind::kUser)) return {};
  OCIRUN_TRY_ASSIGN(const linux::GrantableCapabilities grantable,
                    linux::grantable_capabilities({}));
  if (grantable.permitted.has(CAP_SYS_ADMIN)) return {};
  return fail(EPERM, "make the namespaces: {}", linux::why_namespaces_are_refused(EPERM, flags));
}

// The pid file is written after the hooks. This check reports a missing directory before the hooks
// run.
Result<void> check_pid_file(const std::optional<HostPath>& file) {
  if (file) OCIRUN_TRY(within(linux::open_parent(*file), "--pid-file"));
  return {};
}

Result<void> check_security_modules(const bundle::Config& config, const Log& log) {
  if (!config.mount_label.empty()) {
    if (linux::selinux_enabled())
      OCIRUN_TRY(linux::check_mount_label(config.mount_label));
    else
      log.warn("/linux/mountLabel: SELinux is not enabled on this host, the label is left out");
  }
  if (!config.process) return {};
  const bundle::Process& process = *config.process;
  return linux::check_lsm(process.apparmor_profile, process.selinux_label);
}

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

}  // namespace

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

Result<void> warn_of_capabilities(const bundle::Process& process,
                                  const linux::NamespaceSet& namespaces, const Log& log,
                                  const bundle::Process* told) {
  // A process that enters a user namespace gets every capability there. A container without a user
  // namespace has at most the capabilities of ocirun.
  if (!process.capabilities || namespaces.contains(NamespaceKind::kUser)) return {};
  const bool has_told = told != nullptr && told->capabilities;
  const auto asked = linux::CapabilitySet::from_bits(
      process.capabilities->bounding.bits() | (has_told ? told->capabilities->bounding.bits() : 0));
  OCIRUN_TRY_ASSIGN(const linux::GrantableCapabilities grantable,
                    linux::grantable_capabilities(asked));
  linux::UngrantedCapabilities known;
  if (has_told) known = linux::find_ungranted(*told->capabilities, grantable);
  const linux::UngrantedCapabilities lost = linux::find_ungranted(*process.capabilities, grantable);
  // The kernel grants no ambient capability that is not inheritable. `runc spec` and `crun spec`
  // write ambient capabilities without inheritable ones, so the loss is not worth a warning.
  if (process.capabilities->inheritable.empty()) {
    for (const std::string& sentence : linux::describe_ungranted({.ambient = lost.ambient}, known))
      log.debug(sentence);
    known.ambient = lost.ambient;
  }
  for (const std::string& sentence : linux::describe_ungranted(lost, known)) log.warn(sentence);
  return {};
}

Result<Preflight> check_host(const bundle::Config& config, const CreateRequest& request,
                             const Log& log) {
  Preflight host;
  OCIRUN_TRY(check_ordinary_user(config));  // first, because after this error no warning matters
  OCIRUN_TRY(check_root(config));
  warn_of_destinations(config, log);
  OCIRUN_TRY(check_pid_file(request.announcement.pid_file));
  OCIRUN_TRY(check_security_modules(config, log));
  if (config.process) OCIRUN_TRY(warn_of_capabilities(*config.process, config.namespaces, log));
  if (config.intel_rdt) {
    OCIRUN_TRY_ASSIGN(host.resctrl, linux::find_resctrl());
  }
  OCIRUN_TRY_ASSIGN(host.console, connect_console(config, request));
  return host;
}

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

std::vector<linux::CgroupHierarchy> describe_hierarchies(const cgroups::Layout& layout,
                                                         const cgroups::Record& record) {
  std::vector<linux::CgroupHierarchy> hierarchies;
  for (const cgroups::Hierarchy& hierarchy : layout.hierarchies) {
    std::string controllers;
    for (const std::string& controller : hierarchy.controllers)
      controllers += (controllers.empty() ? "" : ",") + controller;
    const auto own = std::ranges::find(record.directories, controllers,
                                       &std::pair<std::string, std::string>::first);
    const bool named = controllers.starts_with("name=");
    hierarchies.push_back({.name = hierarchy.unified ? "unified"
                                   : named           ? controllers.substr(5)
                                                     : controllers,
                           .options = named ? "none," + controllers : controllers,
                           .unified = hierarchy.unified,
                           // A container without a cgroup of its own stays in the caller's cgroup.
                           .own_directory = HostPath(own == record.directories.end()
                                                         ? hierarchy.mount_point.string() +
                                                               cgroups::shown_path(hierarchy)
                                                         : own->second)});
  }
  return hierarchies;
}

namespace {

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
