#include "runtime/processes.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string>

#include "linux/syscalls.hpp"

namespace ocirun::runtime {
namespace {

int parse_pid(std::string_view text) {
  int pid = 0;
  const char* last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, pid);
  return code == std::errc{} && end == last && pid > 0 ? pid : 0;
}

/// "pid:[4026531836]"; "" for one that may not be looked at.
std::string pid_namespace_of(Fd proc, int pid) {
  return linux::sys::readlinkat(proc, fmt::format("{}/ns/pid", pid).c_str()).value_or("");
}

}  // namespace

int parent_in_stat(std::string_view stat) {
  // "12 (a name) with spaces) S 1 …": the name ends at the last parenthesis.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 4 >= stat.size()) return kNoProcess;
  if (const char state = stat[name_end + 2]; state == 'Z' || state == 'X') return kNoProcess;
  const std::string_view rest = stat.substr(name_end + 4);
  return parse_pid(rest.substr(0, rest.find(' ')));
}

std::vector<int> select_processes(std::vector<ProcessEntry> all, int init) {
  std::vector<int> chosen;
  const auto is_ours = [&](const ProcessEntry& one) {
    return one.pid == init || one.in_container ||
           std::ranges::find(chosen, one.parent) != chosen.end();
  };
  // A round finds the children of those found before: as many as the tree is deep.
  for (std::size_t before = all.size() + 1; all.size() < before;) {
    before = all.size();
    std::erase_if(all, [&](const ProcessEntry& one) {
      if (!is_ours(one)) return false;
      chosen.push_back(one.pid);
      return true;
    });
  }
  std::ranges::sort(chosen);
  return chosen;
}

Result<std::vector<int>> find_processes(int init, bool own_pid_namespace) {
  TRY_ASSIGN(UniqueFd proc, linux::sys::open("/proc", O_RDONLY | O_DIRECTORY));
  const Fd directory = proc;
  const std::string inside = own_pid_namespace ? pid_namespace_of(directory, init) : "";
  const std::unique_ptr<DIR, decltype([](DIR* stream) { ::closedir(stream); })> stream(
      ::fdopendir(proc.get()));
  if (!stream) return fail(errno, "list processes");
  static_cast<void>(proc.release());  // closedir's now
  std::vector<ProcessEntry> all;
  while (const dirent* entry = ::readdir(stream.get())) {
    const int pid = parse_pid(entry->d_name);
    if (pid == 0) continue;
    const auto file =
        linux::sys::openat(directory, fmt::format("{}/stat", pid).c_str(), O_RDONLY | O_NOFOLLOW);
    const auto stat = file ? linux::sys::read_all(*file, 4096) : Result<std::string>("");
    const int parent = parent_in_stat(stat.value_or(""));
    if (parent == kNoProcess) continue;
    all.push_back({.pid = pid,
                   .parent = parent,
                   .in_container = !inside.empty() && pid_namespace_of(directory, pid) == inside});
  }
  return select_processes(std::move(all), init);
}

}  // namespace ocirun::runtime
