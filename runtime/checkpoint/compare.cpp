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
#include "linux/process/capabilities.hpp"
#include "runtime/checkpoint/compare_mounts.hpp"

namespace ocirun::runtime {
namespace {

using linux::CapabilitySet;
using linux::NamespaceKind;

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

bool are_all(const std::vector<std::uint32_t>& ids, std::optional<std::uint32_t> wanted) {
  return wanted && std::ranges::all_of(ids, [&](std::uint32_t id) { return id == *wanted; });
}

Result<void> compare_ids(const ThreadStatus& thread, const bundle::Config& config) {
  const bundle::User& user = config.process->user;
  const bool is_mapped = config.namespaces.contains(NamespaceKind::kUser);
  const linux::CapabilitySet may =
      all_of(config.process->capabilities.value_or(linux::CapabilitySets{}));
  if (!config.process->no_new_privileges) return {};  // a set-user-ID program may have run
  const auto uid = is_mapped ? config.id_map.host_uid(user.uid) : user.uid.value();
  if (!may.has(CAP_SETUID) && !are_all(thread.uids, uid))
    return refuse(
        "has user ids {} of the host: with /process/noNewPrivileges and without "
        "CAP_SETUID they must be that of /process/user/uid",
        fmt::join(thread.uids, ","));
  const auto gid = is_mapped ? config.id_map.host_gid(user.gid) : user.gid.value();
  if (!may.has(CAP_SETGID) && !are_all(thread.gids, gid))
    return refuse(
        "has group ids {} of the host: with /process/noNewPrivileges and without "
        "CAP_SETGID they must be that of /process/user/gid",
        fmt::join(thread.gids, ","));
  return {};
}

/// A walk over the stopped processes.
class Walk {
 public:
  explicit Walk(const Expectation& expected) : expected_(expected) {}

  Result<void> run(int init) {
    init_ = init;
    TRY(learn_own_namespaces());
    waiting_.push_back(init);
    for (std::size_t count = 0; !waiting_.empty(); ++count) {
      if (count == kMostProcesses) return refuse("the images hold too many processes");
      const int pid = waiting_.back();
      waiting_.pop_back();
      TRY(visit(pid));
    }
    return compare_mounts(expected_.config, expected_.procfs, init);
  }

 private:
  static constexpr std::size_t kMostProcesses = 1 << 20;

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

  /// Compares a process and its threads; adds its children to those that wait for their turn.
  Result<void> visit(int pid) {
    auto compared = compare_process(pid);
    if (!compared) return within(std::move(compared), fmt::format("process {}", pid));
    TRY_ASSIGN(const UniqueFd tasks,
               linux::sys::openat(expected_.procfs.fd(), fmt::format("{}/task", pid).c_str(),
                                  O_RDONLY | O_DIRECTORY));
    return linux::for_each_entry(tasks, [&](const char* name, unsigned char) -> Result<void> {
      TRY_ASSIGN(const std::string status,
                 expected_.procfs.read(fmt::format("{}/task/{}/status", pid, name)));
      auto thread = parse_thread_status(status);
      auto fits = thread ? compare_thread(*thread, expected_.config)
                         : Result<void>(std::unexpected(thread.error()));
      if (!fits) return within(std::move(fits), fmt::format("process {}", pid));
      TRY_ASSIGN(const std::string list,
                 expected_.procfs.read(fmt::format("{}/task/{}/children", pid, name)));
      for (const std::string_view word : linux::words(list))
        if (const auto child = linux::number<int>(word)) waiting_.push_back(*child);
      return {};
    });
  }

  Result<void> compare_process(int pid) const {
    for (std::size_t i = 0; i < linux::kNamespaceKinds.size(); ++i) TRY(compare_namespace(pid, i));
    TRY(compare_id_maps(pid));
    TRY(compare_cgroups(pid));
    return compare_profile(pid);
  }

  Result<void> compare_namespace(int pid, std::size_t index) const {
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
      const bool may_be_nested = kind == NamespaceKind::kMount || kind == NamespaceKind::kNetwork;
      if (found != inits_[index] && !may_be_nested)
        return refuse("is in another {} namespace than the container's init", name);
      return {};
    }
    // config.json asks for none: the container has the host's, as `create` gives it.
    if (kind == NamespaceKind::kUser && found != own_[index])
      return refuse("is in a user namespace: config.json asks for none");
    return {};
  }

  Result<void> compare_id_maps(int pid) const {
    if (!expected_.config.namespaces.creates(NamespaceKind::kUser)) return {};
    linux::IdMap map;
    TRY_ASSIGN(map.uids, linux::read_id_map(expected_.procfs.fd(), fmt::format("{}/uid_map", pid)));
    TRY_ASSIGN(map.gids, linux::read_id_map(expected_.procfs.fd(), fmt::format("{}/gid_map", pid)));
    if (map == expected_.config.id_map) return {};
    return refuse("has another map of ids than /linux/uidMappings and /linux/gidMappings");
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

  Result<void> compare_profile(int pid) const {
    const bundle::Process* process =
        expected_.config.process ? &*expected_.config.process : nullptr;
    if (process == nullptr || process->apparmor_profile.empty() ||
        process->apparmor_profile == "unconfined")
      return {};
    auto label = expected_.procfs.read(fmt::format("{}/attr/apparmor/current", pid));
    if (!label) label = expected_.procfs.read(fmt::format("{}/attr/current", pid));
    TRY(label);
    // "PROFILE (enforce)\n"
    std::string_view rest = *label;
    const std::string_view profile = linux::cut(rest, ' ');
    if (profile.starts_with(process->apparmor_profile)) return {};
    return refuse("has the AppArmor profile \"{}\": /process/apparmorProfile is \"{}\"",
                  profile.substr(0, profile.find('\n')), process->apparmor_profile);
  }

  const Expectation& expected_;
  int init_ = 0;
  std::vector<int> waiting_;  // a list, because images may hold a long chain of processes
  std::array<std::string, linux::kNamespaceKinds.size()> own_, inits_;
};

}  // namespace

Result<ThreadStatus> parse_thread_status(std::string_view text) {
  ThreadStatus status;
  TRY_ASSIGN(status.uids, ids_of(text, "Uid"));
  TRY_ASSIGN(status.gids, ids_of(text, "Gid"));
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
