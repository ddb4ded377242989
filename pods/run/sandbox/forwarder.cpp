#include "pods/run/sandbox/forwarder.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <utility>

#include "linux/base/patience.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/network/frame_filter.hpp"
#include "linux/programs/child_call.hpp"
#include "linux/programs/program.hpp"
#include "pods/run/sandbox/holder.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::size_t kMostSaid = 65536;
constexpr std::chrono::milliseconds kBetweenLooks{20};  // at pasta, while it starts
constexpr std::string_view kWithoutFilter =
    " (--net unfiltered connects the pod without a filter: its programs can then reach what "
    "listens "
    "on the host's loopback addresses, by sockets that are bound to the pod's device)";

/// pasta's word for a port: "192.0.2.1/8080:80".
std::string port_word(const Forward& forward) {
  return fmt::format("{}{}{}:{}", forward.address, forward.address.empty() ? "" : "/",
                     forward.host_port, forward.pod_port);
}

/// Mounts the network namespace on a file. pasta drops its capabilities before it opens the
/// namespace, and may then not open that of another process; but it may open this file.
Result<void> pin_namespace(const linux::ProcessIdentity& holder, const std::string& pin) {
  OCIRUN_TRY_ASSIGN(const UniqueFd made, sys::open(pin.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  return sys::mount(namespace_path(holder.pid, "net").c_str(), pin.c_str(), nullptr, MS_BIND,
                    nullptr);
}

/// The rules for frames that leave the pod by `device`. The caller is in the pod's network
/// namespace.
Result<linux::FrameRules> rules_of(const std::string& device,
                                   const std::vector<linux::DeviceAddress>& of_host,
                                   const std::vector<Forward>& forwards) {
  linux::FrameRules rules;
  OCIRUN_TRY_ASSIGN(const auto of_pod, linux::device_addresses());
  for (const linux::DeviceAddress& row : of_pod)
    if (row.device == device) rules.own.push_back(row.address);
  if (rules.own.empty()) return refuse("pasta has given the device {} no address", device);
  // All addresses of the host, whatever the pod's own are: a container with CAP_NET_ADMIN changes
  // its own, and pasta may be started again. A device with a link-local address alone, such as the
  // host's end of a veth pair, leads to no service for others.
  const auto leads_outside = [&](const std::string& name) {
    return std::ranges::any_of(of_host, [&](const linux::DeviceAddress& row) {
      return row.device == name && !row.address.is_link_local();
    });
  };
  for (const linux::DeviceAddress& row : of_host)
    if (leads_outside(row.device)) rules.host.push_back(row.address);
  for (const Forward& forward : forwards)
    if (forward.protocol == Protocol::kUdp) rules.udp_ports.push_back(forward.pod_port);
  return rules;
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

/// What the error of pasta may come from: Debian 12's pasta can open a port of the host only once.
std::string hint_of(const std::vector<Forward>& forwards) {
  std::map<std::pair<std::uint16_t, Protocol>, const Forward*> first;
  for (const Forward& other : forwards) {
    const auto [place, is_new] = first.emplace(std::pair(other.host_port, other.protocol), &other);
    if (is_new) continue;
    return fmt::format(
        " (the port {} of the host is wanted at {} and at {}, and a pasta may open a port at one "
        "address, or without hostIP at all of them)",
        other.host_port, place->second->address, other.address);
  }
  return "";
}

}  // namespace

Forwarder::Forwarder(std::string pasta, bool is_filtered, std::vector<Forward> forwards,
                     std::string pin, Recorder record)
    : pasta_(std::move(pasta)),
      is_filtered_(is_filtered),
      forwards_(std::move(forwards)),
      pin_(std::move(pin)),
      pid_file_(pin_ + ".pid"),
      said_(pin_ + ".err"),
      connected_(pin_ + ".connected"),
      record_(std::move(record)) {}

/// pasta writes its pid when it has set up the pod's device: a file of an earlier pasta must be
/// gone.
Result<linux::Child> Forwarder::launch() {
  gate_.reset();
  door_.reset();
  has_no_gate_ = false;
  for (const std::string& file : {pid_file_, connected_}) {
    const auto removed = sys::unlinkat(Fd{AT_FDCWD}, file.c_str(), 0);
    if (!removed && removed.error().number() != ENOENT) return std::unexpected(removed.error());
  }
  OCIRUN_TRY_ASSIGN(
      const UniqueFd said,
      sys::open(said_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0600));
  const auto start = [&](const std::function<Result<void>()>& prepare) {
    return linux::start_recorded_program(words_of(pasta_, forwards_, pin_, pid_file_),
                                         {.out = Fd{-1}, .err = said}, record_, prepare);
  };
  if (!is_filtered_) return start(nullptr);
  OCIRUN_TRY_ASSIGN(auto sockets, linux::MessageSocket::make_pair());
  OCIRUN_TRY_ASSIGN(linux::Child child,
                    start([&] { return linux::TapGate::send(sockets.second); }));
  sockets.second.close();
  door_ = std::move(sockets.first);
  return child;
}

Result<void> Forwarder::open_gate() const {
  OCIRUN_TRY_ASSIGN(const auto of_host, linux::device_addresses());
  OCIRUN_TRY_ASSIGN(const UniqueFd network, sys::open(pin_.c_str(), O_RDONLY));
  if (::setns(network.get(), CLONE_NEWNET) != 0) return fail(errno, "enter the pod's network");
  OCIRUN_TRY_ASSIGN(const linux::FrameRules rules, rules_of(gate_->device(), of_host, forwards_));
  return linux::filter_frames(gate_->tap(), linux::frame_filter(rules));
}

/// Takes the steps that pasta waits for.
Result<Forwarder::Step> Forwarder::next_step() {
  if (door_) {
    pollfd watched{door_->fd().value, POLLIN, 0};
    if (::poll(&watched, 1, 0) <= 0) return Step::kWait;
    auto gate = linux::TapGate::receive(*door_);
    door_.reset();
    has_no_gate_ = !gate;  // the process has failed, and ends
    if (gate) gate_.emplace(std::move(*gate));
  }
  if (gate_) {
    const auto answered = gate_->answer();
    if (!answered) return refuse("{}{}", answered.error().message(), kWithoutFilter);
  }
  if (!linux::read_pid_file(pid_file_)) return Step::kWait;
  if (gate_) {
    if (gate_->is_closed()) return Step::kOpenGate;
    return refuse("has connected the pod without a tap device of its own{}", kWithoutFilter);
  }
  OCIRUN_TRY(sys::renameat2(Fd{AT_FDCWD}, pid_file_.c_str(), Fd{AT_FDCWD}, connected_.c_str(), 0));
  return Step::kDone;
}

std::string Forwarder::last_words(std::optional<int> status) const {
  const auto file = sys::open(said_.c_str(), O_RDONLY | O_NOFOLLOW);
  std::string text = file ? sys::read_all(*file, kMostSaid).value_or("") : "";
  while (text.ends_with('\n')) text.pop_back();
  return fmt::format("{}{}{}{}", linux::describe_end(status), text.empty() ? "" : ": ", text,
                     has_no_gate_ ? kWithoutFilter : "");
}

Result<void> Forwarder::start(const linux::ProcessIdentity& holder) {
  OCIRUN_TRY(within(pin_namespace(holder, pin_), "pin the pod's network namespace"));
  auto started = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(linux::Child child, launch());
    linux::Patience left(linux::kProgramPatience);
    for (;;) {
      auto step = next_step();
      if (step && *step == Step::kDone) break;
      if (step && *step == Step::kOpenGate) {
        const auto opened =
            linux::call_in_child([&] { return open_gate(); }, "filter the pod's frames");
        gate_.reset();  // the device must end with pasta
        if (opened) continue;
        step = std::unexpected(opened.error());
      }
      if (step)
        if (const auto status = linux::collect_child(child, std::chrono::milliseconds(0)))
          return refuse("{}{}", last_words(status), hint_of(forwards_));
      if (step && left.wait()) continue;
      linux::kill_child(child);
      if (!step) return std::unexpected(step.error());
      return refuse("has not connected the pod within {} s", linux::kProgramPatience.count());
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
  if (!linux::read_pid_file(connected_)) {
    // The supervisor that had the gate of this pasta has ended: the gate stays shut.
    const auto end = linux::ProcessEnd::watch(pasta);
    ignore(linux::send_signal(pasta, SIGKILL));
    if (end) ignore(end->comes_within(std::chrono::seconds(2)));
    return;
  }
  phase_ = Phase::kConnected;
  due_ = Clock::time_point::max();
}

std::string Forwarder::ended(std::optional<int> status, Clock::time_point now) {
  gate_.reset();
  door_.reset();
  due_ = now + backoff_.after_run_of(phase_ == Phase::kConnected ? now - started_
                                                                 : Clock::duration::zero());
  phase_ = Phase::kWaiting;
  return last_words(status);
}

Result<Forwarder::Step> Forwarder::go_on(Clock::time_point now) {
  if (now < due_ || phase_ == Phase::kConnected) return Step::kWait;
  if (phase_ == Phase::kWaiting) {
    const auto child = launch();
    if (!child) {
      due_ = now + backoff_.after_run_of(Clock::duration::zero());
      return std::unexpected(child.error());
    }
    pid_ = child->pid;
    phase_ = Phase::kStarting;
    started_ = now;
    due_ = now + kBetweenLooks;
    return Step::kWait;
  }
  const auto step = next_step();
  if (!step) return give_up(step.error());
  if (*step == Step::kWait && now >= started_ + linux::kProgramPatience)
    return give_up(
        refuse("has not connected the pod within {} s", linux::kProgramPatience.count()).error());
  due_ = *step == Step::kWait ? now + kBetweenLooks : Clock::time_point::max();
  if (*step == Step::kDone) phase_ = Phase::kConnected;
  return *step;
}

Result<void> Forwarder::gate_opened(int pasta, const Result<void>& outcome, Clock::time_point now) {
  if (pasta != pid_ || !gate_) return {};  // this pasta has ended
  gate_.reset();                           // the device must end with pasta
  due_ = now;
  if (outcome) return {};
  return give_up(outcome.error());
}

/// Kills pasta, whose end calls ended().
std::unexpected<Error> Forwarder::give_up(Error error) {
  ::kill(pid_, SIGKILL);
  due_ = Clock::time_point::max();
  return std::unexpected(std::move(error));
}

}  // namespace ocirun::pods
