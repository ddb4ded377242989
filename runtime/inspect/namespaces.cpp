// The namespaces of init, and its id maps.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "runtime/inspect/rows.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

/// "net:[4026531840]"
Result<std::string> identity(const Subject& subject, const std::string& process,
                             NamespaceKind kind) {
  return linux::sys::readlinkat(subject.procfs.fd(),
                                fmt::format("{}/ns/{}", process, linux::proc_name(kind)).c_str());
}

/// The identity of the namespace that a path leads to. nsfs has no name for it but the inode.
Result<std::string> identity_at(const HostPath& path, NamespaceKind kind) {
  OCIRUN_TRY_ASSIGN(const UniqueFd file, linux::sys::open(path.c_str(), O_PATH));
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(file));
  return fmt::format("{}:[{}]", linux::proc_name(kind), status.st_ino);
}

Row row_of(const Subject& subject, NamespaceKind kind, const std::string& own_pid) {
  Row row{.what = std::string(linux::config_name(kind)), .asked = "of the caller", .found = ""};
  const linux::Namespace* const entry = subject.config.namespaces.find(kind);
  if (entry != nullptr) row.asked = entry->path ? "joined " + entry->path->string() : "new";
  const auto found = identity(subject, subject.files, kind);
  const auto own = identity(subject, own_pid, kind);
  if (entry == nullptr && is_missing(own) && is_missing(found))
    return {row.what, row.asked, "the kernel has no such namespaces", Verdict::kAsAsked};
  row.found = found ? *found : found.error().message();
  row.verdict = Verdict::kUnknown;
  if (!found || !own) return row;
  const bool is_own = *found == *own;
  if (entry == nullptr) {
    // The caller of `create` may have been in other namespaces than this process.
    row.verdict = is_own ? Verdict::kAsAsked : Verdict::kUnasked;
  } else if (!entry->path) {
    row.verdict = is_own ? Verdict::kDrift : Verdict::kAsAsked;
  } else if (const auto joined = identity_at(*entry->path, kind); joined) {
    // /proc/PID/ns leads to the namespace of whoever has the pid now.
    const bool is_of_process = linux::name_in_proc(entry->path->string()).has_value();
    row.verdict = *joined == *found ? Verdict::kAsAsked
                  : is_of_process   ? Verdict::kUnknown
                                    : Verdict::kDrift;
    if (*joined != *found) row.asked += " (now " + *joined + ")";
  } else {
    row.found += "; the path: " + joined.error().message();
  }
  return row;
}

/// The kernel shows a map of more than five lines sorted.
std::string text_of(std::vector<linux::IdMapping> mappings) {
  std::ranges::sort(mappings, {}, &linux::IdMapping::container_id);
  std::vector<std::string> parts;
  for (const linux::IdMapping& mapping : mappings)
    parts.push_back(fmt::format("{} {} {}", mapping.container_id, mapping.host_id, mapping.size));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Row map_row(const Subject& subject, const char* what, const char* file,
            const std::vector<linux::IdMapping>& asked) {
  const auto text = subject.read(file);
  if (!text) return {what, text_of(asked), text.error().message(), Verdict::kUnknown};
  return compared(what, text_of(asked), text_of(linux::parse_id_map(*text)));
}

}  // namespace

bool is_in_asked_user_namespace(const Subject& subject) {
  const auto open = [&](const std::string& process) {
    return linux::sys::openat(subject.procfs.fd(), (process + "/ns/user").c_str(), O_RDONLY);
  };
  const auto own_pid = linux::sys::readlinkat(subject.procfs.fd(), "self");
  const auto user = open(subject.files);
  const auto own = open(own_pid.value_or("self"));
  return user && own &&
         linux::is_user_namespace_asked(subject.config.namespaces, *user, *own).value_or(false);
}

Rows inspect_namespaces(const Subject& subject) {
  Rows rows;
  const auto own = linux::sys::readlinkat(subject.procfs.fd(), "self");
  for (const NamespaceKind kind : linux::kNamespaceKinds)
    rows.push_back(row_of(subject, kind, own.value_or("self")));
  if (subject.config.id_map.empty()) return rows;
  rows.push_back(map_row(subject, "uid map", "uid_map", subject.config.id_map.uids));
  rows.push_back(map_row(subject, "gid map", "gid_map", subject.config.id_map.gids));
  return rows;
}

}  // namespace ocirun::runtime
