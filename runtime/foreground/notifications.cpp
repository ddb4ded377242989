#include "runtime/foreground/notifications.hpp"

#include <linux/mount.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "linux/base/file_io.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/terminal.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/init/executable.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kMostSockets = 1000;
constexpr int kReadPatience = 5000;  // ms

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

Result<int> count_listening_sockets() {
  if (linux::number<int>(variable("LISTEN_PID")) != ::getpid())
    return 0;  // the sockets are meant for another process
  const std::string_view text = variable("LISTEN_FDS");
  const auto count = linux::number<int>(text);
  if (!count || *count < 0 || *count > kMostSockets)
    return refuse(
        "LISTEN_FDS={}: must be a number from 0 to {}, because LISTEN_PID names this process", text,
        kMostSockets);
  return *count;
}

Result<std::optional<Supervisor>> Supervisor::connect() {
  OCIRUN_TRY_ASSIGN(auto socket, linux::NotifySocket::connect(variable("NOTIFY_SOCKET")));
  if (!socket) return std::nullopt;
  return Supervisor(*std::move(socket));
}

Result<void> Supervisor::wait_until_read() const {
  OCIRUN_TRY_ASSIGN(linux::Pipe read, linux::make_pipe());
  OCIRUN_TRY(
      within(linux::send_descriptor(socket_.fd(), read.writer, "BARRIER=1"), "NOTIFY_SOCKET"));
  read.writer.reset();  // the service manager closes the last copy
  pollfd watched{read.reader.get(), 0, 0};
  if (::poll(&watched, 1, kReadPatience) == 0)
    return refuse("NOTIFY_SOCKET: the service manager has not read the notification for {} s",
                  kReadPatience / 1000);
  return {};
}

namespace {

constexpr std::size_t kMostStatus = 512;
constexpr std::size_t kMostDigits = 20;  // of a 64-bit number
constexpr int kAtOnce = 16;              // datagrams; the kernel queues about ten for a socket
constexpr int kMostPerSecond = 32;

bool is_plain_text(std::string_view text) {
  return text.find_first_of("\n\t") == std::string_view::npos &&
         linux::without_controls(text) == text;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= kMostDigits && std::ranges::all_of(text, linux::is_digit);
}

bool may_pass(std::string_view name, std::string_view value) {
  if (name == "READY" || name == "RELOADING" || name == "STOPPING" || name == "WATCHDOG")
    return value == "1";
  if (name == "MONOTONIC_USEC") return is_digits(value);
  return name == "STATUS" && value.size() <= kMostStatus && is_plain_text(value);
}

bool has_line(std::string_view lines, std::string_view wanted) {
  return ("\n" + std::string(lines) + "\n").find("\n" + std::string(wanted)) != std::string::npos;
}

// Whether the child has ended. Does not collect the child.
bool has_ended(int pid) {
  siginfo_t information{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &information,
                  WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
         information.si_pid == pid;
}

}  // namespace

bool wants_notify_socket(const bundle::Config& config) {
  return config.process && find_variable(config.process->env, "NOTIFY_SOCKET") == nullptr;
}

void add_notify_socket(bundle::Config& config, const std::string& socket) {
  linux::Mount mount;
  mount.destination = RootfsPath(kNotifySocketInContainer);
  mount.source = socket;
  mount.bind = true;
  mount.attributes.set =
      MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  config.mounts.push_back(std::move(mount));
  config.process->env.push_back(std::string("NOTIFY_SOCKET=") + kNotifySocketInContainer);
}

std::string forwardable_lines(std::string_view datagram) {
  std::string lines;
  while (!datagram.empty()) {
    const std::string_view line = linux::cut(datagram, '\n');
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos ||
        !may_pass(line.substr(0, equals), line.substr(equals + 1)) ||
        has_line(lines, line.substr(0, equals + 1)))
      continue;
    if (!lines.empty()) lines += '\n';
    lines += line;
  }
  return lines;
}

// Whether to drop a datagram. Each forwarded datagram costs time of the service manager, which may
// be the host's first process.
bool Notifications::is_too_much() {
  const auto now = std::chrono::steady_clock::now();
  if (now - second_begins_ >= std::chrono::seconds(1)) {
    second_begins_ = now;
    in_this_second_ = 0;
  }
  return ++in_this_second_ > kMostPerSecond;
}

void Notifications::carry() {
  std::array<char, 4096> datagram;
  for (int count = 0; count < kAtOnce; ++count) {
    // Without a buffer for control data, the kernel closes the descriptors that came with a
    // datagram.
    const ssize_t size =
        ::recv(socket_.value, datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0) return;
    if (static_cast<std::size_t>(size) > datagram.size()) continue;
    std::string lines =
        forwardable_lines(std::string_view(datagram.data(), static_cast<std::size_t>(size)));
    const bool says_ready = has_line(lines, "READY=1");
    // The first READY=1 is forwarded in any case.
    if (lines.empty() || (is_too_much() && (ready_ || !says_ready))) continue;
    if (says_ready) {
      ready_ = true;
      lines += fmt::format("\nMAINPID={}", main_pid_);
    }
    if (const auto told = supervisor_.tell(lines); !told) {
      log_.warn(told.error().message());
      return;  // the manager does not read: another tell() would wait as well
    }
  }
}

Result<void> await_ready(const linux::Child& child, Notifications& notifications,
                         const Supervisor& supervisor, const Log& log) {
  for (;;) {
    const bool ended = has_ended(child.pid);  // asked first: carry() then gets the last datagrams
    notifications.carry();
    if (notifications.ready()) {
      if (const auto read = supervisor.wait_until_read(); !read) log.warn(read.error().message());
      return {};
    }
    if (ended) return refuse("the program ended before it told NOTIFY_SOCKET that it is ready");
    std::array<pollfd, 2> watched{pollfd{notifications.descriptor().value, POLLIN, 0},
                                  pollfd{Signals::descriptor().value, POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
      return fail(errno, "wait for the container to be ready");
    OCIRUN_TRY(Signals::check());  // takes SIGCHLD too
  }
}

}  // namespace ocirun::runtime
