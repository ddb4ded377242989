#include "runtime/kill.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "linux/procfs.hpp"
#include "runtime/processes.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kRounds = 10;

std::optional<int> parse_int(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> real_time_signal(std::string_view name) {
  if (name == "RTMIN") return SIGRTMIN;
  if (name == "RTMAX") return SIGRTMAX;
  if (name.starts_with("RTMIN+"))
    if (const auto offset = parse_int(name.substr(6));
        offset && *offset >= 0 && *offset <= SIGRTMAX - SIGRTMIN)
      return SIGRTMIN + *offset;
  if (name.starts_with("RTMAX-"))
    if (const auto offset = parse_int(name.substr(6));
        offset && *offset >= 0 && *offset <= SIGRTMAX - SIGRTMIN)
      return SIGRTMAX - *offset;
  return std::nullopt;
}

// A container without a cgroup is known by its pid namespace and its descendants. Several rounds,
// because a process may fork while we look. Of another user's container only init is signalled,
// which is checked to be that user's.
Result<void> signal_without_cgroup(const Container& container, int signal) {
  if (!refuse_foreign(container.directory())) return {};
  std::vector<int> done{container.init().pid};  // its turn comes last
  for (int round = 0; round < kRounds; ++round) {
    TRY_ASSIGN(const std::vector<int> pids,
               find_processes(container.init().pid, container.record().own_pid_namespace));
    if (!linux::is_alive(container.init())) break;  // they may be another process's children
    bool any_new = false;
    for (const int pid : pids) {
      if (std::ranges::find(done, pid) != done.end()) continue;
      const auto stat = linux::read_process_stat(pid);
      if (stat) [[maybe_unused]]  // it may be gone already
        const auto sent = linux::send_signal({pid, stat->start_time}, signal);
      done.push_back(pid);
      any_new = true;
    }
    if (!any_new || signal != SIGKILL) break;
  }
  return {};
}

}  // namespace

Result<int> parse_signal(std::string_view text) {
  if (const auto number = parse_int(text); number && *number >= 0 && *number <= SIGRTMAX)
    return *number;
  std::string name(text);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (name.starts_with("SIG")) name.erase(0, 3);
  if (const auto number = real_time_signal(name)) return *number;
  for (int number = 1; number < 32; ++number) {
    const char* abbreviation = ::sigabbrev_np(number);
    if (abbreviation != nullptr && name == abbreviation) return number;
  }
  if (name == "IOT") return SIGABRT;
  if (name == "IO") return SIGIO;  // to glibc it is POLL
  if (name == "CLD") return SIGCHLD;
  return refuse(
      "unknown signal \"{}\": give a name such as TERM or SIGKILL, RTMIN+1, or a number from 0 to "
      "{}",
      text, SIGRTMAX);
}

Result<void> kill_container(const Container& container, int signal, KillScope scope) {
  const bool everybody =
      scope == KillScope::kAll || (signal == SIGKILL && !container.record().own_pid_namespace);
  const Status status = container.status();
  if (everybody && (can_kill(status) || scope == KillScope::kAll)) {
    if (container.record().cgroup_manager != "disabled") {
      TRY_ASSIGN(const auto cgroup, container.cgroup());
      return cgroup->signal_all(signal);
    }
    if (can_kill(status)) TRY(signal_without_cgroup(container, signal));
  }
  if (!can_kill(status)) return refuse("container not running");
  auto sent = linux::send_signal(container.init(), signal);
  if (!sent && sent.error().number() == ESRCH) return refuse("container not running");
  TRY(sent);
  if (signal == SIGKILL && status == Status::kPaused) {  // a frozen process dies when it is thawed
    TRY_ASSIGN(const auto cgroup, container.cgroup());
    return cgroup->freeze(cgroups::FreezerState::kThawed);
  }
  return {};
}

}  // namespace ocirun::runtime
