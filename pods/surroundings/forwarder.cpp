#include "pods/surroundings/forwarder.hpp"

#include <fcntl.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "linux/base/patience.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/prepare/program.hpp"
#include "pods/surroundings/holder.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::size_t kMostSaid = 65536;
constexpr std::chrono::milliseconds kBetweenLooks{20};  // at the file with pasta's pid

/// pasta's word for a port: "192.0.2.1/8080:80".
std::string port_word(const Forward& forward) {
  return fmt::format("{}{}{}:{}", forward.address, forward.address.empty() ? "" : "/",
                     forward.host_port, forward.pod_port);
}

/// Mounts the network namespace on a file. pasta drops its capabilities before it opens the
/// namespace, and may then not open that of another process; but it may open this file.
Result<void> pin_namespace(const linux::ProcessIdentity& holder, const std::string& pin) {
  TRY_ASSIGN(const UniqueFd made, sys::open(pin.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  return sys::mount(namespace_path(holder.pid, "net").c_str(), pin.c_str(), nullptr, MS_BIND,
                    nullptr);
}

/// pasta stays root, without capabilities, in an empty root and under a seccomp filter of its own:
/// setns(2) demands CAP_SYS_ADMIN in the user namespace that owns the network namespace, which is
/// the host's, and another user would lose the capability before pasta comes to that call.
/// --foreground: pasta stays the process that was recorded.
std::vector<std::string> words_of(const std::string& pasta, const std::vector<Forward>& forwards,
                                  const std::string& pin, const std::string& pid_file) {
  std::vector<std::string> words{
      pasta,   "--foreground", "--config-net", "--quiet",  "--netns", pin,        "--runas", "0",
      "--pid", pid_file,       "--no-map-gw",  "--tcp-ns", "none",    "--udp-ns", "none"};
  bool has_tcp = false, has_udp = false;
  for (const Forward& forward : forwards) {
    const bool is_tcp = forward.protocol == Protocol::kTcp;
    (is_tcp ? has_tcp : has_udp) = true;
    words.insert(words.end(), {is_tcp ? "--tcp-ports" : "--udp-ports", port_word(forward)});
  }
  if (!has_tcp) words.insert(words.end(), {"--tcp-ports", "none"});
  if (!has_udp) words.insert(words.end(), {"--udp-ports", "none"});
  return words;
}

}  // namespace

Forwarder::Forwarder(std::string pasta, std::vector<Forward> forwards, std::string pin,
                     Recorder record)
    : pasta_(std::move(pasta)),
      forwards_(std::move(forwards)),
      pin_(std::move(pin)),
      pid_file_(pin_ + ".pid"),
      said_(pin_ + ".err"),
      record_(std::move(record)) {}

/// pasta writes its pid when it has connected the pod: a file of an earlier pasta must be gone.
Result<linux::Child> Forwarder::launch() {
  const auto removed = sys::unlinkat(Fd{AT_FDCWD}, pid_file_.c_str(), 0);
  if (!removed && removed.error().number() != ENOENT) return std::unexpected(removed.error());
  TRY_ASSIGN(const UniqueFd said,
             sys::open(said_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0600));
  return start_recorded_program(words_of(pasta_, forwards_, pin_, pid_file_),
                                {.out = Fd{-1}, .err = said}, record_);
}

std::string Forwarder::last_words(std::optional<int> status) const {
  const auto file = sys::open(said_.c_str(), O_RDONLY | O_NOFOLLOW);
  std::string text = file ? sys::read_all(*file, kMostSaid).value_or("") : "";
  while (text.ends_with('\n')) text.pop_back();
  return fmt::format("{}{}{}", linux::describe_end(status), text.empty() ? "" : ": ", text);
}

Result<void> Forwarder::start(const linux::ProcessIdentity& holder) {
  TRY(within(pin_namespace(holder, pin_), "pin the pod's network namespace"));
  auto started = [&]() -> Result<void> {
    TRY_ASSIGN(linux::Child child, launch());
    linux::Patience left(kProgramPatience);
    while (!read_pid_file(pid_file_)) {
      if (const auto status = linux::collect_child(child, std::chrono::milliseconds(0)))
        return refuse("{}", last_words(status));
      if (left.wait()) continue;
      linux::kill_child(child);
      return refuse("has not connected the pod within {} s", kProgramPatience.count());
    }
    phase_ = Phase::kConnected;
    started_ = Clock::now();
    return {};
  }();
  return within(std::move(started), "forward the pod's ports: pasta");
}

void Forwarder::resume(const linux::ProcessIdentity& pasta) {
  started_ = due_ = Clock::now();
  if (!linux::is_alive(pasta)) return;
  phase_ = Phase::kConnected;
  due_ = Clock::time_point::max();
}

std::string Forwarder::ended(std::optional<int> status, Clock::time_point now) {
  due_ = now + backoff_.after_run_of(phase_ == Phase::kConnected ? now - started_
                                                                 : Clock::duration::zero());
  phase_ = Phase::kWaiting;
  return last_words(status);
}

Result<bool> Forwarder::go_on(Clock::time_point now) {
  if (now < due_ || phase_ == Phase::kConnected) return false;
  if (phase_ == Phase::kStarting) {
    if (read_pid_file(pid_file_)) {
      phase_ = Phase::kConnected;
      due_ = Clock::time_point::max();
      return true;
    }
    due_ = now + kBetweenLooks;
    if (now < started_ + kProgramPatience) return false;
    ::kill(pid_, SIGKILL);  // its end calls ended()
    due_ = Clock::time_point::max();
    return refuse("has not connected the pod within {} s", kProgramPatience.count());
  }
  const auto child = launch();
  if (!child) {
    due_ = now + backoff_.after_run_of(Clock::duration::zero());
    return std::unexpected(child.error());
  }
  pid_ = child->pid;
  phase_ = Phase::kStarting;
  started_ = now;
  due_ = now + kBetweenLooks;
  return false;
}

}  // namespace ocirun::pods
