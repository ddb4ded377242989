#include "cgroups/systemd/client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "cgroups/hierarchies/text.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::cgroups {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char kName[] = "ocirun-systemd";
constexpr std::size_t kMaxAnswer = 64 * 1024;

std::string instance_name(SystemdInstance instance) {
  return std::string(instance == SystemdInstance::kUser ? kUserInstance : kSystemInstance);
}

/// The environment of ocirun-systemd: only the caller's variables that locate the D-Bus buses.
std::vector<std::string> bus_environment() {
  std::vector<std::string> environment;
  for (const char* name :
       {"DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "XDG_RUNTIME_DIR"})
    if (const char* value = ::getenv(name); value != nullptr && *value != '\0')
      environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

[[noreturn]] void become_program(const linux::ExecArguments& arguments, Fd socket) {
  linux::reset_signals();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::dup2(socket.value, STDIN_FILENO) >= 0 && ::dup2(socket.value, STDOUT_FILENO) >= 0) {
    linux::close_descriptors_from(STDERR_FILENO + 1);
    ::execve(arguments.argv()[0], arguments.argv(), arguments.envp());
  }
  ::_exit(127);
}

/// A conversation with one ocirun-systemd process. The destructor kills the process.
class Conversation {
 public:
  static Result<Conversation> spawn(std::vector<std::string> words) {
    OCIRUN_TRY_ASSIGN(std::string path, linux::find_own_program(kName));
    words.insert(words.begin(), std::move(path));
    const linux::ExecArguments arguments(std::move(words), bus_environment());
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      return fail(errno, "make a socket");
    UniqueFd ours(ends[0]);
    const UniqueFd theirs(ends[1]);
    OCIRUN_TRY_ASSIGN(const linux::Child child,
                      linux::clone_process(0, Fd{}, linux::Parentage::kMine));
    if (child.pid == 0) become_program(arguments, theirs);
    return Conversation(child.pid, std::move(ours));
  }
  Conversation(Conversation&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), socket_(std::move(other.socket_)) {}
  Conversation& operator=(Conversation&&) = delete;
  ~Conversation() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ignore(linux::wait_for_child(pid_));
  }

  Result<std::string> ask(const std::vector<UnitProperty>& properties, milliseconds patience) {
    const std::string lines = property_lines(properties);
    // send(2) need not wait for ocirun-systemd: a request fits into the socket buffer.
    const ssize_t sent =
        ::send(socket_.get(), lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return fail(errno, "write to {}", kName);
    if (static_cast<std::size_t>(sent) != lines.size())
      return fail(EMSGSIZE, "write to {}: {} of {} bytes", kName, sent, lines.size());
    OCIRUN_TRY_ASSIGN(const std::string answer, read_answer(patience));
    const std::string_view text = answer;
    if (text.starts_with(kOk)) return std::string(text.substr(kOk.size()));
    if (text.starts_with(kErrorAnswer))
      return std::unexpected(
          linux::parse_error_lines(text.substr(kErrorAnswer.size()), "ask systemd"));
    return refuse(
        "{}, which talks to systemd, ended without an answer (is it of the same version as "
        "ocirun?)",
        kName);
  }

  std::pair<int, UniqueFd> release() && { return {std::exchange(pid_, 0), std::move(socket_)}; }

 private:
  Conversation(int pid, UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}

  Result<std::string> read_answer(milliseconds patience) const {
    const auto deadline = steady_clock::now() + patience;
    std::string answer;
    std::array<char, 4096> buffer{};
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
      pollfd ready{socket_.get(), POLLIN, 0};
      const int count = left.count() > 0 ? ::poll(&ready, 1, static_cast<int>(left.count())) : 0;
      if (count == 0)
        return fail(ETIMEDOUT, "systemd has not answered for {} s (is D-Bus running?)",
                    patience.count() / 1000);
      if (count < 0 && errno != EINTR) return fail(errno, "wait for {}", kName);
      if (count < 0) continue;
      const ssize_t size = ::read(socket_.get(), buffer.data(), buffer.size());
      if (size == 0) return answer;
      if (size < 0 && errno == ECONNRESET) return answer;
      if (size < 0 && errno != EINTR) return fail(errno, "read from {}", kName);
      if (size > 0) answer.append(buffer.data(), static_cast<std::size_t>(size));
      if (answer.size() > kMaxAnswer) return fail(EMSGSIZE, "read from {}", kName);
    }
  }

  int pid_;
  UniqueFd socket_;
};

Result<std::string> ask_once(std::vector<std::string> words,
                             const std::vector<UnitProperty>& properties = {},
                             milliseconds patience = kBusPatience) {
  OCIRUN_TRY_ASSIGN(Conversation conversation, Conversation::spawn(std::move(words)));
  return conversation.ask(properties, patience);
}

}  // namespace

Result<SystemdManager> find_systemd(SystemdInstance instance) {
  OCIRUN_TRY_ASSIGN(const std::string answer,
                    ask_once({instance_name(instance), std::string(kManagerVerb)}));
  const std::size_t blank = answer.find(' ');
  if (blank == std::string::npos) return refuse("{} answered \"{}\"", kName, answer);
  std::string control_group = answer.substr(blank + 1);
  if (control_group == "/") control_group.clear();
  return SystemdManager{.version = static_cast<unsigned>(
                            number(std::string_view(answer).substr(0, blank)).value_or(0)),
                        .control_group = std::move(control_group)};
}

HeldScope::HeldScope(int holder, UniqueFd link, std::string control_group)
    : holder_(holder), link_(std::move(link)), control_group_(std::move(control_group)) {}

HeldScope::HeldScope(HeldScope&& other) noexcept
    : holder_(std::exchange(other.holder_, 0)),
      link_(std::move(other.link_)),
      control_group_(std::move(other.control_group_)) {}

HeldScope::~HeldScope() {
  if (holder_ == 0) return;
  ::kill(holder_, SIGKILL);
  ignore(linux::wait_for_child(holder_));
}

Result<HeldScope> HeldScope::start(SystemdInstance instance, const std::string& unit,
                                   const std::vector<UnitProperty>& properties) {
  OCIRUN_TRY_ASSIGN(Conversation conversation,
                    Conversation::spawn({instance_name(instance), std::string(kStartVerb), unit}));
  OCIRUN_TRY_ASSIGN(std::string control_group, conversation.ask(properties, kBusPatience));
  auto [pid, socket] = std::move(conversation).release();
  return HeldScope(pid, std::move(socket), std::move(control_group));
}

Result<std::string> start_slice(SystemdInstance instance, const std::string& unit,
                                const std::vector<UnitProperty>& properties) {
  return ask_once({instance_name(instance), std::string(kSliceVerb), unit}, properties);
}

Result<void> set_properties(SystemdInstance instance, const std::string& unit,
                            const std::vector<UnitProperty>& properties, milliseconds patience) {
  OCIRUN_TRY(
      ask_once({instance_name(instance), std::string(kSetVerb), unit}, properties, patience));
  return {};
}

Result<void> attach_to_unit(SystemdInstance instance, const std::string& unit, int pid) {
  OCIRUN_TRY(
      ask_once({instance_name(instance), std::string(kAttachVerb), unit, fmt::to_string(pid)}));
  return {};
}

Result<void> stop_unit(SystemdInstance instance, const std::string& unit) {
  OCIRUN_TRY(ask_once({instance_name(instance), std::string(kStopVerb), unit}));
  return {};
}

}  // namespace ocirun::cgroups
