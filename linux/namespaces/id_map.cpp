#include "linux/namespaces/id_map.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/namespaces/subordinate_ids.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/process/spawn.hpp"

namespace ocirun::linux {
namespace {

std::optional<std::uint32_t> map_id(const std::vector<IdMapping>& mappings, std::uint32_t id) {
  for (const IdMapping& line : mappings)
    if (id >= line.container_id && id - line.container_id < line.size)
      return line.host_id + (id - line.container_id);
  return std::nullopt;
}

// Sorts by `start`; then only neighbours can overlap.
Result<void> check_overlaps(std::vector<IdMapping> mappings, std::uint32_t IdMapping::* start,
                            std::string_view side) {
  std::ranges::sort(mappings, {}, start);
  for (std::size_t i = 1; i < mappings.size(); ++i) {
    const std::uint64_t end = std::uint64_t{mappings[i - 1].*start} + mappings[i - 1].size;
    if (end > mappings[i].*start)
      return refuse("mappings overlap: {} id {} is mapped twice", side, mappings[i].*start);
  }
  return {};
}

std::string map_text(const std::vector<IdMapping>& mappings) {
  std::string text;
  for (const IdMapping& line : mappings)
    text += fmt::format("{} {} {}\n", line.container_id, line.host_id, line.size);
  return text;
}

// Writes `text` by one write(2), because the kernel accepts only one write to a map file.
Result<void> write_proc_file(Fd procfs, int pid, const char* name, std::string_view text) {
  const std::string path = fmt::format("{}/{}", pid, name);
  OCIRUN_TRY_ASSIGN(const UniqueFd fd,
                    sys::openat(procfs, path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return within(sys::write_once(fd, text), "write {}", name);
}

constexpr std::size_t kMostWords = 2048;  // of a map program's output, kept for the error

// The output of a program as one line.
std::string in_one_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

[[noreturn]] void become_map_program(const std::string& path, const ExecArguments& arguments,
                                     Fd errors) {
  ::dup2(errors.value, STDERR_FILENO);
  ::execve(path.c_str(), arguments.argv(), arguments.envp());
  ::_exit(127);
}

std::string why_map_is_refused(IdKind kind) {
  if (::geteuid() != 0) return why_user_namespace_is_powerless();
  return kind == IdKind::kUser
             ? "root needs CAP_SETUID here, and CAP_SETFCAP to map id 0 (since Linux 5.12)"
             : "root needs CAP_SETGID here";
}

Result<void> run_map_program(IdKind kind, int pid, const std::vector<IdMapping>& mappings,
                             std::uint32_t own_id) {
  const std::string path = find_map_program(kind);
  const std::string_view name = map_program_name(kind);
  if (path.empty() && ::geteuid() == 0) return fail(EPERM, "{}", why_map_is_refused(kind));
  if (path.empty())
    return refuse(
        "{} is not installed: a user without privileges needs it to map more than the own id "
        "(Debian: apt-get install uidmap)",
        name);
  std::vector<std::string> words{std::string(name), fmt::format("{}", pid)};
  for (const IdMapping& line : mappings)
    for (const std::uint32_t number : {line.container_id, line.host_id, line.size})
      words.push_back(fmt::format("{}", number));
  const ExecArguments arguments(std::move(words), {});
  OCIRUN_TRY_ASSIGN(Pipe ends, make_pipe());
  OCIRUN_TRY_ASSIGN(Child child, clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) become_map_program(path, arguments, ends.writer);
  ends.writer.reset();
  OCIRUN_TRY_ASSIGN(ProgramEnd end, await_program(std::move(child), ends.reader, kMostWords, path));
  const int status = end.status;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string reason = why_not_mapped(kind, mappings, own_id);
  if (!reason.empty()) return refuse("{} refused the mapping: {}", name, reason);
  return refuse("{} {}, and has not mapped the ids: {}", name, describe_end(status),
                in_one_line(std::move(end.output)));
}

// The kernel lets an unprivileged process map only its own id, and a gid only after setgroups was
// denied.
bool is_own_id_only(const std::vector<IdMapping>& mappings, std::uint32_t own) {
  return mappings.size() == 1 && mappings[0].size == 1 && mappings[0].host_id == own;
}

/// Refuses host ids that the own user namespace lacks: no program can map such ids.
Result<void> check_own_namespace(Fd procfs, IdKind kind, const std::vector<IdMapping>& mappings) {
  const char* name = kind == IdKind::kUser ? "self/uid_map" : "self/gid_map";
  const std::vector<IdMapping> own = read_id_map(procfs, name).value_or(std::vector<IdMapping>());
  if (own.empty()) return {};
  for (const IdMapping& line : mappings) {
    std::uint64_t next = line.host_id;
    const std::uint64_t end = next + line.size;
    // Each round skips the ids of one line of our own map.
    for (bool moved = true; moved && next < end;) {
      moved = false;
      for (const IdMapping& held : own) {
        if (next < held.container_id || next - held.container_id >= held.size) continue;
        next = std::uint64_t{held.container_id} + held.size;
        moved = true;
      }
    }
    if (next < end)
      return refuse(
          "host id {} does not exist in the user namespace that ocirun itself runs in (see {} in "
          "/proc)",
          next, name);
  }
  return {};
}

/// Maps the own id without a program; everything else needs newuidmap or newgidmap.
Result<void> write_unprivileged(Fd procfs, int pid, IdKind kind,
                                const std::vector<IdMapping>& mappings) {
  const bool users = kind == IdKind::kUser;
  const std::uint32_t own_id = users ? ::geteuid() : ::getegid();
  if (!is_own_id_only(mappings, own_id)) return run_map_program(kind, pid, mappings, own_id);
  // user_namespaces(7): since Linux 3.19 the kernel demands "deny" before the gid map.
  if (!users) OCIRUN_TRY(write_proc_file(procfs, pid, "setgroups", "deny"));
  auto written = write_proc_file(procfs, pid, users ? "uid_map" : "gid_map", map_text(mappings));
  if (!written && written.error().number() == EPERM)
    if (std::string reason = why_map_is_refused(kind); !reason.empty())
      written.error().within(std::move(reason));
  return written;
}

Result<void> write_id_map(Fd procfs, int pid, IdKind kind, const std::vector<IdMapping>& mappings) {
  if (::geteuid() == 0) {
    const char* name = kind == IdKind::kUser ? "uid_map" : "gid_map";
    auto written = write_proc_file(procfs, pid, name, map_text(mappings));
    if (written || written.error().number() != EPERM) return written;
  }
  // Reached also by root, where a capability is missing or the user namespace lacks the ids.
  OCIRUN_TRY(check_own_namespace(procfs, kind, mappings));
  return write_unprivileged(procfs, pid, kind, mappings);
}

}  // namespace

std::optional<std::uint32_t> IdMap::host_uid(Uid uid) const { return map_id(uids, uid.value()); }
std::optional<std::uint32_t> IdMap::host_gid(Gid gid) const { return map_id(gids, gid.value()); }

Result<void> check_id_mappings(const std::vector<IdMapping>& mappings) {
  if (mappings.size() > kMaxIdMappings)
    return refuse("{} mappings: the kernel takes at most {}", mappings.size(), kMaxIdMappings);
  for (const IdMapping& line : mappings) {
    if (line.size == 0)
      return refuse("mapping of container id {}: size must be at least 1", line.container_id);
    const std::uint64_t last =
        std::uint64_t{std::max(line.container_id, line.host_id)} + line.size - 1;
    if (last >= Uid::kUnchanged)
      return refuse("mapping of container id {}: reaches id {}, the last one is 4294967294",
                    line.container_id, last);
  }
  // user_namespaces(7): the text must be shorter than a page.
  if (const std::size_t size = map_text(mappings).size(); size >= 4096)
    return refuse("{} mappings take {} bytes of text: the kernel takes at most 4095; merge some",
                  mappings.size(), size);
  OCIRUN_TRY(check_overlaps(mappings, &IdMapping::container_id, "container"));
  return check_overlaps(mappings, &IdMapping::host_id, "host");
}

Result<void> write_id_maps(Fd procfs, int pid, const IdMap& map) {
  OCIRUN_TRY(within(write_id_map(procfs, pid, IdKind::kUser, map.uids), "/linux/uidMappings"));
  return within(write_id_map(procfs, pid, IdKind::kGroup, map.gids), "/linux/gidMappings");
}

Result<UniqueFd> make_user_namespace(Fd procfs, const IdMap& map) {
  OCIRUN_TRY_ASSIGN(const Child child, clone_process(CLONE_NEWUSER, Fd{}, Parentage::kMine));
  if (child.pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_descriptors_from(3);  // otherwise an inherited lock would live as long as this child
    for (;;) ::pause();         // the child only holds the namespace
  }
  const auto opened = [&]() -> Result<UniqueFd> {
    OCIRUN_TRY(write_id_map(procfs, child.pid, IdKind::kUser, map.uids));
    OCIRUN_TRY(write_id_map(procfs, child.pid, IdKind::kGroup, map.gids));
    return open_namespace(procfs, child.pid, NamespaceKind::kUser);
  };
  auto fd = opened();
  ::kill(child.pid, SIGKILL);  // the pid cannot be reused before wait_for_child()
  OCIRUN_TRY(wait_for_child(child.pid));
  return fd;
}

}  // namespace ocirun::linux
