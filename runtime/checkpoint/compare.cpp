#include "runtime/checkpoint/compare.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "linux/base/directory_entries.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/namespaces/id_map.hpp"
#include "linux/process/capabilities.hpp"
#include "runtime/checkpoint/compare_labels.hpp"
#include "runtime/checkpoint/compare_mounts.hpp"
#include "runtime/checkpoint/process_tree.hpp"

namespace ocirun::runtime {
namespace {

using linux::CapabilitySet;
using linux::NamespaceKind;

constexpr std::uint32_t kNobody = 0xFFFFFFFFU;  // no process has this id

// The value behind "NAME:\t".
std::optional<std::string_view> field_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = linux::cut(text, '\n');
    if (linux::cut(line, ':') != name) continue;
    while (line.starts_with('\t') || line.starts_with(' ')) line.remove_prefix(1);
    return line;
  }
  return std::nullopt;
}

Result<CapabilitySet> set_of(std::string_view text, std::string_view name) {
  const auto value = field_of(text, name);
  std::uint64_t bits = 0;
  const char* end = value ? value->data() + value->size() : nullptr;
  if (!value || std::from_chars(value->data(), end, bits, 16).ptr != end)
    return refuse("the kernel does not tell {} of a process", name);
  return CapabilitySet::from_bits(bits);
}

Result<std::vector<std::uint32_t>> ids_of(std::string_view text, std::string_view name) {
  std::vector<std::uint32_t> ids;
  for (const std::string_view word : linux::words(field_of(text, name).value_or(""), '\t'))
    ids.push_back(linux::number<std::uint32_t>(word).value_or(0xFFFFFFFFU));
  if (ids.size() != 4) return refuse("the kernel does not tell {} of a process", name);
  return ids;
}

Result<std::vector<std::uint32_t>> groups_of(std::string_view text) {
  const auto value = field_of(text, "Groups");
  if (!value) return refuse("the kernel does not tell Groups of a process");
  std::vector<std::uint32_t> groups;
  for (const std::string_view word : linux::words(*value))
    groups.push_back(linux::number<std::uint32_t>(word).value_or(0xFFFFFFFFU));
  return groups;
}

Result<int> number_of(std::string_view text, std::string_view name) {
  const auto value = field_of(text, name);
  const auto parsed = value ? linux::number<int>(*value) : std::nullopt;
  if (!parsed) return refuse("the kernel does not tell {} of a process", name);
  return *parsed;
}

Result<void> check_within(CapabilitySet has, CapabilitySet may, std::string_view set) {
  const std::uint64_t beyond = has.bits() & ~may.bits();
  for (unsigned capability = 0; capability < 64; ++capability)
    if ((beyond >> capability) & 1U)
      return refuse(
          "has {} in its {} set, which /process/capabilities of config.json does not give",
          linux::capability_name(capability), set);
  return {};
}

// Every process of a container inherits from its init, which had these.
CapabilitySet all_of(const linux::CapabilitySets& sets) {
  return CapabilitySet::from_bits(sets.bounding.bits() | sets.permitted.bits() |
                                  sets.effective.bits() | sets.inheritable.bits() |
                                  sets.ambient.bits());
}

bool are_all(const std::vector<std::uint32_t>& ids, std::uint32_t wanted) {
  return std::ranges::all_of(ids, [&](std::uint32_t id) { return id == wanted; });
}

// The id of the host; the kernel shows it where the container has a user namespace.
std::uint32_t shown(const bundle::Config& config, Uid uid) {
  return config.id_map.empty() ? uid.value() : config.id_map.host_uid(uid).value_or(kNobody);
}
std::uint32_t shown(const bundle::Config& config, Gid gid) {
  return config.id_map.empty() ? gid.value() : config.id_map.host_gid(gid).value_or(kNobody);
}

// Nothing that a process without CAP_SETGID executes can change them.
Result<void> compare_groups(const ThreadStatus& thread, const bundle::Config& config) {
  std::vector<std::uint32_t> wanted;
  for (const Gid gid : config.process->user.additional_gids) wanted.push_back(shown(config, gid));
  std::vector<std::uint32_t> found = thread.groups;
  std::ranges::sort(wanted);
  std::ranges::sort(found);
  if (found == wanted) return {};
  return refuse(
      "has the supplementary groups [{}]: without CAP_SETGID they must be the [{}] of "
      "/process/user/additionalGids",
      fmt::join(found, ","), fmt::join(wanted, ","));
}

Result<void> compare_ids(const ThreadStatus& thread, const bundle::Config& config) {
  const bundle::Process& process = *config.process;
  const bundle::User& user = process.user;
  const CapabilitySet may = all_of(process.capabilities.value_or(linux::CapabilitySets{}));
  if (!may.has(CAP_SETGID)) TRY(compare_groups(thread, config));
  if (!process.no_new_privileges) return {};  // a set-user-ID program may have run
  if (!may.has(CAP_SETUID) && !are_all(thread.uids, shown(config, user.uid)))
    return refuse(
        "has user ids {}: with /process/noNewPrivileges and without CAP_SETUID they must be that "
        "of /process/user/uid",
        fmt::join(thread.uids, ","));
  if (!may.has(CAP_SETGID) && !are_all(thread.gids, shown(config, user.gid)))
    return refuse(
        "has group ids {}: with /process/noNewPrivileges and without CAP_SETGID they must be that "
        "of /process/user/gid",
        fmt::join(thread.gids, ","));
  return {};
}

// criu restores other mount and network namespaces inside of a container, but none of other kinds.
bool may_nest(const bundle::Config& config, NamespaceKind kind) {
  return (kind == NamespaceKind::kMount || kind == NamespaceKind::kNetwork) &&
         has_in_bounding_set(config, CAP_SYS_ADMIN);
}

// A child that its parent has not waited for has neither namespaces nor a filter any more. Other
// threads live on after the first one has ended.
bool is_zombie(std::string_view stat) {
  const auto parsed = linux::parse_process_stat(stat);
  return parsed && parsed->state == 'Z' && parsed->threads <= 1;
}

/// A walk over the stopped processes.
class Walk {
 public:
  explicit Walk(const Expectation& expected) : expected_(expected) {}

  Result<void> run(int init) {
    init_ = init;
    TRY(learn_own_namespaces());
    TRY(compare_id_maps());
    TRY_ASSIGN(const std::vector<int> pids, processes_of(expected_.procfs, init));
    for (const int pid : pids) {
      auto compared = visit(pid);
      if (!compared) return within(std::move(compared), fmt::format("process {}", pid));
    }
    return compare_mounts(expected_.config, expected_.procfs, init, in_mount_namespace_,
                          expected_.record.cgroup.path);
  }

 private:
  Result<std::string> namespace_of(int pid, NamespaceKind kind) const {
    TRY_ASSIGN(const UniqueFd directory,
               linux::sys::openat(expected_.procfs.fd(), fmt::format("{}/ns", pid).c_str(),
                                  O_PATH | O_DIRECTORY));
    auto link = linux::sys::readlinkat(directory, std::string(linux::proc_name(kind)).c_str());
    if (!link && link.error().number() == ENOENT) return std::string();  // an older kernel
    return link;
  }

  Result<void> learn_own_namespaces() {
    for (std::size_t i = 0; i < linux::kNamespaceKinds.size(); ++i) {
      TRY_ASSIGN(own_[i], namespace_of(::getpid(), linux::kNamespaceKinds[i]));
      TRY_ASSIGN(inits_[i], namespace_of(init_, linux::kNamespaceKinds[i]));
    }
    return {};
  }

  // All processes are in the same user namespace as init.
  Result<void> compare_id_maps() const {
    if (!expected_.config.namespaces.creates(NamespaceKind::kUser)) return {};
    const linux::IdMap& wanted = expected_.config.id_map;
    const Fd procfs = expected_.procfs.fd();
    TRY_ASSIGN(const auto uids, linux::read_id_map(procfs, fmt::format("{}/uid_map", init_)));
    TRY_ASSIGN(const auto gids, linux::read_id_map(procfs, fmt::format("{}/gid_map", init_)));
    if (uids != wanted.uids)
      return refuse("the user namespace maps other user ids than /linux/uidMappings");
    if (gids != wanted.gids)
      return refuse("the user namespace maps other group ids than /linux/gidMappings");
    TRY_ASSIGN(const std::string setgroups,
               expected_.procfs.read(fmt::format("{}/setgroups", init_)));
    if (setgroups.starts_with("allow")) return {};
    return refuse("setgroups(2) is denied in the user namespace: create allows it");
  }

  /// Compares a process and its threads.
  Result<void> visit(int pid) {
    TRY_ASSIGN(const std::string stat, expected_.procfs.read(fmt::format("{}/stat", pid)));
    if (pid != init_ && is_zombie(stat)) return {};
    for (std::size_t i = 0; i < linux::kNamespaceKinds.size(); ++i) TRY(compare_namespace(pid, i));
    TRY(compare_cgroups(pid));
    if (expected_.config.process)
      TRY(compare_labels(expected_.procfs, pid, *expected_.config.process));
    TRY_ASSIGN(const UniqueFd tasks,
               linux::sys::openat(expected_.procfs.fd(), fmt::format("{}/task", pid).c_str(),
                                  O_RDONLY | O_DIRECTORY));
    return linux::for_each_entry(tasks, [&](const char* name, unsigned char) -> Result<void> {
      TRY_ASSIGN(const std::string status,
                 expected_.procfs.read(fmt::format("{}/task/{}/status", pid, name)));
      TRY_ASSIGN(const ThreadStatus thread, parse_thread_status(status));
      return compare_thread(thread, expected_.config);
    });
  }

  Result<void> compare_namespace(int pid, std::size_t index) {
    const NamespaceKind kind = linux::kNamespaceKinds[index];
    TRY_ASSIGN(const std::string found, namespace_of(pid, kind));
    const bundle::Config& config = expected_.config;
    const std::string_view name = linux::config_name(kind);
    if (config.namespaces.joins(kind)) {
      const auto pinned = std::ranges::find(expected_.pinned, kind, &linux::PinnedNamespace::kind);
      TRY_ASSIGN(const struct stat wanted, linux::sys::fstat(pinned->fd));
      if (found.find(fmt::format("[{}]", wanted.st_ino)) == std::string::npos)
        return refuse("is not in the {} namespace {} that config.json names", name,
                      config.namespaces.find(kind)->path->string());
      return {};
    }
    if (config.namespaces.creates(kind)) {
      if (!own_[index].empty() && found == own_[index])
        return refuse("is in the {} namespace of the host: config.json asks for a new one", name);
      const bool is_nested = found != inits_[index];
      if (is_nested && !may_nest(config, kind))
        return refuse(
            "is in another {} namespace than the container's init, which a process without "
            "CAP_SYS_ADMIN cannot make",
            name);
      if (kind == NamespaceKind::kMount && !is_nested) in_mount_namespace_.push_back(pid);
      return {};
    }
    // config.json asks for none: the container has the host's, as `create` gives it.
    if (kind == NamespaceKind::kUser && found != own_[index])
      return refuse("is in a user namespace: config.json asks for none");
    return {};
  }

  // "0::/PATH" of the unified hierarchy, "4:memory:/PATH" of others.
  Result<void> compare_cgroups(int pid) const {
    const cgroups::Record& record = expected_.record.cgroup;
    if (record.path.empty()) return {};
    TRY_ASSIGN(const std::string text, expected_.procfs.read(fmt::format("{}/cgroup", pid)));
    for (std::string_view line : linux::words(text, '\n')) {
      linux::cut(line, ':');
      const std::string controllers(linux::cut(line, ':'));
      const bool is_ours = std::ranges::find(record.directories, controllers,
                                             &std::pair<std::string, std::string>::first) !=
                           record.directories.end();
      if (!is_ours || line == record.path || line.starts_with(record.path + "/")) continue;
      return refuse("is in the cgroup {} ({}), outside of the container's cgroup {}", line,
                    controllers.empty() ? "unified" : controllers, record.path);
    }
    return {};
  }

  const Expectation& expected_;
  int init_ = 0;
  std::vector<int> in_mount_namespace_;  // the processes in init's mount namespace
  std::array<std::string, linux::kNamespaceKinds.size()> own_, inits_;
};

}  // namespace

bool has_in_bounding_set(const bundle::Config& config, unsigned capability) {
  return config.process && config.process->capabilities &&
         config.process->capabilities->bounding.has(capability);
}

Result<ThreadStatus> parse_thread_status(std::string_view text) {
  ThreadStatus status;
  TRY_ASSIGN(status.uids, ids_of(text, "Uid"));
  TRY_ASSIGN(status.gids, ids_of(text, "Gid"));
  TRY_ASSIGN(status.groups, groups_of(text));
  linux::CapabilitySets& sets = status.capabilities;
  TRY_ASSIGN(sets.inheritable, set_of(text, "CapInh"));
  TRY_ASSIGN(sets.permitted, set_of(text, "CapPrm"));
  TRY_ASSIGN(sets.effective, set_of(text, "CapEff"));
  TRY_ASSIGN(sets.bounding, set_of(text, "CapBnd"));
  TRY_ASSIGN(sets.ambient, set_of(text, "CapAmb"));
  TRY_ASSIGN(const int no_new_privileges, number_of(text, "NoNewPrivs"));
  status.no_new_privileges = no_new_privileges == 1;
  TRY_ASSIGN(status.seccomp_mode, number_of(text, "Seccomp"));
  return status;
}

Result<void> compare_thread(const ThreadStatus& thread, const bundle::Config& config) {
  if (!config.process) return refuse("runs: config.json has no /process");
  const linux::CapabilitySets given =
      config.process->capabilities.value_or(linux::CapabilitySets{});
  const CapabilitySet may = all_of(given);
  TRY(check_within(thread.capabilities.bounding, given.bounding, "bounding"));
  TRY(check_within(thread.capabilities.permitted, may, "permitted"));
  TRY(check_within(thread.capabilities.effective, may, "effective"));
  TRY(check_within(thread.capabilities.inheritable, may, "inheritable"));
  TRY(check_within(thread.capabilities.ambient, may, "ambient"));
  if (config.seccomp && thread.seccomp_mode != 2)
    return refuse("has no seccomp filter: /linux/seccomp asks for one");
  if (config.process->no_new_privileges && !thread.no_new_privileges)
    return refuse("lacks no_new_privs: /process/noNewPrivileges asks for it");
  return compare_ids(thread, config);
}

Result<void> compare_restored(const Expectation& expected, int init) {
  return Walk(expected).run(init);
}

}  // namespace ocirun::runtime
