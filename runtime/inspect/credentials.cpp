// What init may do: its user, its capabilities, its filter, its labels.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "linux/base/text.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/lsm.hpp"
#include "linux/seccomp/filter_bytes.hpp"
#include "runtime/inspect/rows.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {
namespace {

using linux::CapabilitySet;

/// The container's id for an id of the caller's user namespace; the id itself where no line maps
/// it, as for a container without a user namespace.
std::string in_container(std::string_view id, const std::vector<linux::IdMapping>& map) {
  const auto number = linux::number<std::uint32_t>(id);
  if (!number) return std::string(id);
  for (const linux::IdMapping& line : map)
    if (*number >= line.host_id && *number - line.host_id < line.size)
      return std::to_string(line.container_id + (*number - line.host_id));
  return std::string(id);
}

/// The map of the document; for a user namespace that is joined, init's own.
std::vector<linux::IdMapping> map_of(const Subject& subject, const char* file,
                                     const std::vector<linux::IdMapping>& asked) {
  if (!asked.empty() || !subject.config.namespaces.joins(linux::NamespaceKind::kUser)) return asked;
  const auto text = subject.read(file);
  return text ? linux::parse_id_map(*text) : std::vector<linux::IdMapping>();
}

/// A row of ids, of which a program with the right to do so may choose others. To become root is
/// drift. `field`: the ids of /proc/PID/status.
Row ids_row(std::string what, const std::vector<std::string>& asked, std::string_view field,
            const std::vector<linux::IdMapping>& map, bool may_have_root) {
  const auto sorted = [](std::vector<std::string> ids) {
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    return ids;
  };
  std::vector<std::string> found;
  std::string words(field);
  std::ranges::replace(words, '\t', ' ');
  for (const std::string_view id : linux::words(words)) found.push_back(in_container(id, map));
  found = sorted(std::move(found));
  const auto text = [](const std::vector<std::string>& ids) {
    return ids.empty() ? "none" : fmt::format("{}", fmt::join(ids, ","));
  };
  Row row = compared(std::move(what), text(sorted(asked)), text(found));
  const bool has_new_root = !may_have_root && std::ranges::find(found, "0") != found.end();
  if (row.verdict == Verdict::kDrift && !has_new_root) row.verdict = Verdict::kUnasked;
  return row;
}

void add_user(Rows& rows, const Subject& subject, const bundle::User& user) {
  const auto uids = map_of(subject, "uid_map", subject.config.id_map.uids);
  const auto gids = map_of(subject, "gid_map", subject.config.id_map.gids);
  const std::string uid = std::to_string(user.uid.value());
  const std::string gid = std::to_string(user.gid.value());
  std::vector<std::string> groups;
  for (const Gid group : user.additional_gids) groups.push_back(std::to_string(group.value()));
  const bool has_root_group = gid == "0" || std::ranges::find(groups, "0") != groups.end();
  rows.push_back(
      ids_row("/process/user/uid", {uid}, status_field(subject.status, "Uid"), uids, uid == "0"));
  rows.push_back(ids_row("/process/user/gid", {gid}, status_field(subject.status, "Gid"), gids,
                         has_root_group));
  rows.push_back(ids_row("/process/user/additionalGids", groups,
                         status_field(subject.status, "Groups"), gids, has_root_group));
  if (!user.umask) return;
  Row row = compared("/process/user/umask", fmt::format("{:04o}", *user.umask),
                     std::string(status_field(subject.status, "Umask")));
  if (row.verdict == Verdict::kDrift) row.verdict = Verdict::kUnasked;
  rows.push_back(std::move(row));
}

std::string names_of(CapabilitySet set) {
  std::string text;
  for (unsigned capability = 0; capability < 64; ++capability)
    if (set.has(capability)) text += (text.empty() ? "" : " ") + linux::capability_name(capability);
  return text.empty() ? "none" : text;
}

bool is_within(CapabilitySet part, CapabilitySet whole) {
  return (part.bits() & ~whole.bits()) == 0;
}

CapabilitySet both(CapabilitySet a, CapabilitySet b) {
  return CapabilitySet::from_bits(a.bits() | b.bits());
}

/// execve(2) computes the permitted and the effective set anew: root gets what is bounding or
/// inheritable, another user what is ambient. `limit`: more than that, such as the capabilities of
/// a file, is drift; up to `limit` the program has taken a right that it was given, or has dropped
/// one.
struct ExpectedSet {
  const char* name;
  const char* field;  // in /proc/PID/status
  CapabilitySet asked, expected, limit;
};

void add_set(Rows& rows, const Subject& subject, const ExpectedSet& set) {
  const auto bits = linux::number(status_field(subject.status, set.field), 16);
  Row row{fmt::format("/process/capabilities/{}", set.name), names_of(set.asked), ""};
  row.verdict = Verdict::kUnknown;
  row.found = "not told by this kernel";
  if (bits) {
    const CapabilitySet found = CapabilitySet::from_bits(*bits);
    row.found = names_of(found);
    if (found == set.expected || found == set.asked)
      row.verdict = Verdict::kAsAsked;
    else
      row.verdict = is_within(found, set.limit) ? Verdict::kUnasked : Verdict::kDrift;
    if (row.verdict == Verdict::kAsAsked) row.asked = row.found;
  }
  rows.push_back(std::move(row));
}

/// The sets of the document, without what the host cannot grant.
linux::CapabilitySets granted(const bundle::Process& process) {
  const linux::CapabilitySets wanted = process.capabilities.value_or(linux::CapabilitySets());
  const auto grantable = linux::grantable_capabilities(both(wanted.bounding, wanted.inheritable));
  return grantable ? linux::limit_to_grantable(wanted, *grantable) : wanted;
}

void add_capabilities(Rows& rows, const Subject& subject, const bundle::Process& process) {
  if (!is_in_asked_user_namespace(subject)) {
    rows.push_back({"/process/capabilities", "",
                    "those of another user namespace, in which init is now", Verdict::kUnasked});
    return;
  }
  const linux::CapabilitySets sets = granted(process);
  const bool is_root = process.user.uid.value() == 0;
  const CapabilitySet after_exec = is_root ? both(sets.bounding, sets.inheritable) : sets.ambient;
  for (const ExpectedSet& set :
       {ExpectedSet{"bounding", "CapBnd", sets.bounding, sets.bounding, sets.bounding},
        ExpectedSet{"permitted", "CapPrm", sets.permitted, after_exec, sets.bounding},
        ExpectedSet{"effective", "CapEff", sets.effective, after_exec, sets.bounding},
        ExpectedSet{"inheritable", "CapInh", sets.inheritable, sets.inheritable, sets.bounding},
        ExpectedSet{"ambient", "CapAmb", sets.ambient, sets.ambient, sets.bounding}})
    add_set(rows, subject, set);
}

/// A program may add filters and set no_new_privs, and cannot take either back.
void add_restrictions(Rows& rows, const Subject& subject, const bundle::Process& process) {
  const std::string_view no_new_privs = status_field(subject.status, "NoNewPrivs");
  Row row = compared("/process/noNewPrivileges", process.no_new_privileges ? "1" : "0",
                     std::string(no_new_privs));
  if (row.verdict == Verdict::kDrift && no_new_privs == "1") row.verdict = Verdict::kUnasked;
  rows.push_back(std::move(row));

  const bool is_asked = subject.config.seccomp.has_value();
  Row seccomp{"/linux/seccomp", is_asked ? "a filter" : "no filter", ""};
  const std::string_view mode = status_field(subject.status, "Seccomp");
  const std::string_view filters = status_field(subject.status, "Seccomp_filters");
  seccomp.found = fmt::format("mode {} ({}){}", mode,
                              mode == "2"   ? "filter"
                              : mode == "1" ? "strict"
                                            : "none",
                              filters.empty() ? "" : fmt::format(", filters: {}", filters));
  const bool has_filter = mode == "2";
  if (is_asked)
    seccomp.verdict = has_filter ? Verdict::kAsAsked : Verdict::kDrift;
  else  // a filter of the caller, or of the program
    seccomp.verdict = has_filter ? Verdict::kUnasked : Verdict::kAsAsked;
  if (seccomp.verdict == Verdict::kAsAsked) seccomp.asked.clear();
  if (const auto bytes = subject.container.filter_bytes(); is_asked && bytes)
    if (const auto filter = linux::parse_filter_bytes(*bytes))
      seccomp.found +=
          fmt::format("; the document's has {} instructions, flags {:#x}{}", filter->program.size(),
                      filter->flags, filter->notify ? ", an agent" : "");
  rows.push_back(std::move(seccomp));
}

/// AppArmor writes "PROFILE (enforce)".
void add_labels(Rows& rows, const Subject& subject, const bundle::Process& process) {
  const auto add = [&](const char* what, const std::string& asked, const char* file) {
    const auto text = subject.read(file);
    if (!text) {
      if (!asked.empty()) rows.push_back({what, asked, text.error().message(), Verdict::kUnknown});
      return;
    }
    Row row = compared(what, asked, std::string(linux::plain_label(*text)));
    if (linux::is_of_profile(*text, asked)) row.verdict = Verdict::kAsAsked;
    if (asked.empty()) row.verdict = Verdict::kUnasked;
    rows.push_back(std::move(row));
  };
  if (!process.apparmor_profile.empty() || linux::apparmor_enabled())
    add("/process/apparmorProfile", process.apparmor_profile, "attr/apparmor/current");
  if (!process.selinux_label.empty() || linux::selinux_enabled())
    add("/process/selinuxLabel", process.selinux_label, "attr/current");
}

}  // namespace

Rows inspect_credentials(const Subject& subject) {
  Rows rows;
  if (!subject.config.process) return rows;
  const bundle::Process& process = *subject.config.process;
  add_user(rows, subject, process.user);
  add_capabilities(rows, subject, process);
  add_restrictions(rows, subject, process);
  add_labels(rows, subject, process);
  return rows;
}

}  // namespace ocirun::runtime
