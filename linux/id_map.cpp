#include "linux/id_map.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "linux/clone.hpp"
#include "linux/exec.hpp"
#include "linux/syscalls.hpp"

namespace ocirun::linux {
namespace {

std::optional<std::uint32_t> map_id(const std::vector<IdMapping>& mappings, std::uint32_t id) {
  for (const IdMapping& line : mappings)
    if (id >= line.container_id && id - line.container_id < line.size)
      return line.host_id + (id - line.container_id);
  return std::nullopt;
}

// Sorted by `start`, two neighbours that touch each other's ids overlap.
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

// One write(2) takes the whole map; the kernel refuses a second one.
Result<void> write_proc_file(Fd procfs, int pid, const char* name, std::string_view text) {
  const std::string path = fmt::format("{}/{}", pid, name);
  TRY_ASSIGN(const UniqueFd fd,
             sys::openat(procfs, path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return within(sys::write_once(fd, text), fmt::format("write {}", name));
}

// newuidmap(1) is taken from the system's own directories, never from the caller's PATH.
Result<std::string> find_map_program(const char* name) {
  for (const char* directory : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
    std::string path = std::string(directory) + name;
    if (sys::open(path.c_str(), O_PATH | O_CLOEXEC)) return path;
  }
  return refuse(
      "{} is not installed: a user without privileges needs it to map more than the own id "
      "(Debian: apt-get install uidmap)",
      name);
}

Result<void> run_map_program(const char* name, const char* subordinate_file, int pid,
                             const std::vector<IdMapping>& mappings) {
  TRY_ASSIGN(std::string path, find_map_program(name));
  std::vector<std::string> words{name, fmt::format("{}", pid)};
  for (const IdMapping& line : mappings)
    for (const std::uint32_t number : {line.container_id, line.host_id, line.size})
      words.push_back(fmt::format("{}", number));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  TRY_ASSIGN(const Child child, clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) {
    std::array<char*, 1> environment{nullptr};
    ::execve(path.c_str(), argv.data(), environment.data());
    ::_exit(127);
  }
  TRY_ASSIGN(const int status, wait_for_child(child.pid));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return refuse(
      "{} refused the mapping (exit status {}): every host id must be your own or listed for you "
      "in {}",
      name, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), subordinate_file);
}

// The kernel lets an unprivileged process map its own id alone, and then only with setgroups denied
// (gid).
bool is_own_id_only(const std::vector<IdMapping>& mappings, std::uint32_t own) {
  return mappings.size() == 1 && mappings[0].size == 1 && mappings[0].host_id == own;
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
  TRY(check_overlaps(mappings, &IdMapping::container_id, "container"));
  return check_overlaps(mappings, &IdMapping::host_id, "host");
}

Result<void> write_id_maps(Fd procfs, int pid, const IdMap& map) {
  const bool privileged = ::geteuid() == 0;
  if (privileged) {
    auto written = write_proc_file(procfs, pid, "uid_map", map_text(map.uids));
    if (written) written = write_proc_file(procfs, pid, "gid_map", map_text(map.gids));
    // Root of a user namespace that does not hold these ids itself: fall through to the set-uid
    // programs.
    if (written || written.error().number() != EPERM)
      return within(std::move(written), "map the ids of the user namespace");
  }
  if (is_own_id_only(map.uids, ::geteuid()) && is_own_id_only(map.gids, ::getegid())) {
    TRY(write_proc_file(procfs, pid, "setgroups", "deny"));  // user_namespaces(7), since Linux 3.19
    TRY(write_proc_file(procfs, pid, "uid_map", map_text(map.uids)));
    return write_proc_file(procfs, pid, "gid_map", map_text(map.gids));
  }
  TRY(run_map_program("newuidmap", "/etc/subuid", pid, map.uids));
  return run_map_program("newgidmap", "/etc/subgid", pid, map.gids);
}

Result<UniqueFd> make_user_namespace(Fd procfs, const IdMap& map) {
  TRY_ASSIGN(const Child child, clone_process(CLONE_NEWUSER, Fd{}, Parentage::kMine));
  if (child.pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_descriptors_from(3);  // a lock among them would live as long as we do
    for (;;) ::pause();         // only holds the namespace
  }
  const auto opened = [&]() -> Result<UniqueFd> {
    TRY(write_id_maps(procfs, child.pid, map));
    return sys::openat(procfs, fmt::format("{}/ns/user", child.pid).c_str(), O_RDONLY | O_CLOEXEC);
  };
  auto fd = opened();
  ::kill(child.pid, SIGKILL);  // not waited for yet, so the number is still its own
  TRY(wait_for_child(child.pid));
  return within(std::move(fd), "make a user namespace for an id-mapped mount");
}

}  // namespace ocirun::linux
