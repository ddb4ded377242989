#include "criu/compare/thread.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/capability.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/lsm.hpp"

namespace ocirun::runtime {
namespace {

using linux::CapabilitySet;

constexpr std::uint32_t kNobody = 0xFFFFFFFFU;  // no process has this id

Result<CapabilitySet> set_of(std::string_view text, std::string_view name) {
  const auto value = linux::status_field(text, name);
  std::uint64_t bits = 0;
  const char* end = value ? value->data() + value->size() : nullptr;
  if (!value || std::from_chars(value->data(), end, bits, 16).ptr != end)
    return refuse("the kernel does not tell {} of a process", name);
  return CapabilitySet::from_bits(bits);
}

Result<std::vector<std::uint32_t>> ids_of(std::string_view text, std::string_view name) {
  std::vector<std::uint32_t> ids;
  for (const std::string_view word :
       linux::words(linux::status_field(text, name).value_or(""), '\t'))
    ids.push_back(linux::number<std::uint32_t>(word).value_or(0xFFFFFFFFU));
  if (ids.size() != 4) return refuse("the kernel does not tell {} of a process", name);
  return ids;
}

Result<std::vector<std::uint32_t>> groups_of(std::string_view text) {
  const auto value = linux::status_field(text, "Groups");
  if (!value) return refuse("the kernel does not tell Groups of a process");
  std::vector<std::uint32_t> groups;
  for (const std::string_view word : linux::words(*value))
    groups.push_back(linux::number<std::uint32_t>(word).value_or(0xFFFFFFFFU));
  return groups;
}

Result<int> number_of(std::string_view text, std::string_view name) {
  const auto value = linux::status_field(text, name);
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

// Returns the union of the sets. Init started with these sets, and every process of a container
// inherits capabilities from init.
CapabilitySet all_of(const linux::CapabilitySets& sets) {
  return CapabilitySet::from_bits(sets.bounding.bits() | sets.permitted.bits() |
                                  sets.effective.bits() | sets.inheritable.bits() |
                                  sets.ambient.bits());
}

bool are_all(const std::vector<std::uint32_t>& ids, std::uint32_t wanted) {
  return std::ranges::all_of(ids, [&](std::uint32_t id) { return id == wanted; });
}

// /proc shows ocirun the ids of the host, and config.json has those of the container.
std::uint32_t id_on_host(const bundle::Config& config, Uid uid) {
  return config.id_map.empty() ? uid.value() : config.id_map.host_uid(uid).value_or(kNobody);
}
std::uint32_t id_on_host(const bundle::Config& config, Gid gid) {
  return config.id_map.empty() ? gid.value() : config.id_map.host_gid(gid).value_or(kNobody);
}

// Without CAP_SETGID, a process of the container cannot change its supplementary groups.
Result<void> compare_groups(const ThreadStatus& thread, const bundle::Config& config) {
  std::vector<std::uint32_t> wanted;
  for (const Gid gid : config.process->user.additional_gids)
    wanted.push_back(id_on_host(config, gid));
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
  if (!may.has(CAP_SETGID)) OCIRUN_TRY(compare_groups(thread, config));
  if (!process.no_new_privileges) return {};  // a set-user-ID program may have run
  if (!may.has(CAP_SETUID) && !are_all(thread.uids, id_on_host(config, user.uid)))
    return refuse(
        "has user ids {}: with /process/noNewPrivileges and without CAP_SETUID they must be that "
        "of /process/user/uid",
        fmt::join(thread.uids, ","));
  if (!may.has(CAP_SETGID) && !are_all(thread.gids, id_on_host(config, user.gid)))
    return refuse(
        "has group ids {}: with /process/noNewPrivileges and without CAP_SETGID they must be that "
        "of /process/user/gid",
        fmt::join(thread.gids, ","));
  return {};
}

Result<void> compare_profile(const linux::Procfs& procfs, int pid, const std::string& profile) {
  if (profile.empty() || profile == "unconfined") return {};
  auto label = procfs.read(fmt::format("{}/attr/apparmor/current", pid));
  if (!label) label = procfs.read(fmt::format("{}/attr/current", pid));
  OCIRUN_TRY(label);
  if (linux::is_of_profile(*label, profile)) return {};
  return refuse("has the AppArmor profile \"{}\": /process/apparmorProfile is \"{}\"",
                linux::plain_label(*label), profile);
}

Result<void> compare_selinux(const linux::Procfs& procfs, int pid, const std::string& wanted) {
  if (wanted.empty()) return {};
  OCIRUN_TRY_ASSIGN(const std::string label, procfs.read(fmt::format("{}/attr/current", pid)));
  if (linux::plain_label(label) == wanted) return {};
  return refuse("has the SELinux label \"{}\": /process/selinuxLabel is \"{}\"",
                linux::plain_label(label), wanted);
}

}  // namespace

bool has_in_bounding_set(const bundle::Config& config, unsigned capability) {
  return config.process && config.process->capabilities &&
         config.process->capabilities->bounding.has(capability);
}

Result<ThreadStatus> parse_thread_status(std::string_view text) {
  ThreadStatus status;
  OCIRUN_TRY_ASSIGN(status.uids, ids_of(text, "Uid"));
  OCIRUN_TRY_ASSIGN(status.gids, ids_of(text, "Gid"));
  OCIRUN_TRY_ASSIGN(status.groups, groups_of(text));
  linux::CapabilitySets& sets = status.capabilities;
  OCIRUN_TRY_ASSIGN(sets.inheritable, set_of(text, "CapInh"));
  OCIRUN_TRY_ASSIGN(sets.permitted, set_of(text, "CapPrm"));
  OCIRUN_TRY_ASSIGN(sets.effective, set_of(text, "CapEff"));
  OCIRUN_TRY_ASSIGN(sets.bounding, set_of(text, "CapBnd"));
  OCIRUN_TRY_ASSIGN(sets.ambient, set_of(text, "CapAmb"));
  OCIRUN_TRY_ASSIGN(const int no_new_privileges, number_of(text, "NoNewPrivs"));
  status.no_new_privileges = no_new_privileges == 1;
  OCIRUN_TRY_ASSIGN(status.seccomp_mode, number_of(text, "Seccomp"));
  return status;
}

Result<void> compare_thread(const ThreadStatus& thread, const bundle::Config& config) {
  if (!config.process) return refuse("runs: config.json has no /process");
  const linux::CapabilitySets given =
      config.process->capabilities.value_or(linux::CapabilitySets{});
  const CapabilitySet may = all_of(given);
  OCIRUN_TRY(check_within(thread.capabilities.bounding, given.bounding, "bounding"));
  OCIRUN_TRY(check_within(thread.capabilities.permitted, may, "permitted"));
  OCIRUN_TRY(check_within(thread.capabilities.effective, may, "effective"));
  OCIRUN_TRY(check_within(thread.capabilities.inheritable, may, "inheritable"));
  OCIRUN_TRY(check_within(thread.capabilities.ambient, may, "ambient"));
  if (config.seccomp && thread.seccomp_mode != 2)
    return refuse("has no seccomp filter: /linux/seccomp asks for one");
  if (config.process->no_new_privileges && !thread.no_new_privileges)
    return refuse("lacks no_new_privs: /process/noNewPrivileges asks for it");
  return compare_ids(thread, config);
}

Result<void> compare_labels(const linux::Procfs& procfs, int pid, const bundle::Process& process) {
  OCIRUN_TRY(compare_profile(procfs, pid, process.apparmor_profile));
  return compare_selinux(procfs, pid, process.selinux_label);
}

}  // namespace ocirun::runtime
