#include "runtime/foreground/learner.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>

#include "linux/base/memory_reserve.hpp"
#include "linux/base/text.hpp"
#include "linux/process/exec.hpp"
#include "linux/seccomp/learn.hpp"

namespace ocirun::runtime {
namespace {

// The command sends Watch with the listener, and at the end Finish. The child answers Finish with
// Names, and before that with Unknown for calls that have no name.
enum class Word : std::uint8_t { kWatch = 1, kFinish, kUnknown, kNames };

constexpr std::chrono::milliseconds kPatience{10'000};

template <typename Texts>
std::string lines_of(const Texts& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += text + "\n";
  return lines;
}

Result<void> learn(const linux::MessageSocket& parent) {
  OCIRUN_TRY_ASSIGN(const linux::Packet packet, parent.receive());
  if (packet.end_of_stream || packet.descriptors.size() != 1) return {};
  const auto calls = linux::note_calls(packet.descriptors.front(), parent.fd());
  std::vector<std::string> unknown;
  const auto names = linux::names_of(calls, unknown);
  OCIRUN_TRY(parent.send(static_cast<std::uint8_t>(Word::kUnknown), lines_of(unknown)));
  return parent.send(static_cast<std::uint8_t>(Word::kNames), lines_of(names));
}

[[noreturn]] void run_child(const linux::MessageSocket& parent) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "ocirun:learn");
  ::prctl(PR_SET_DUMPABLE, 0);
  linux::close_descriptors_but(std::array{parent.fd()});
  ignore(linux::within_memory([&] { return learn(parent); }));
  ::_exit(0);
}

}  // namespace

Result<SeccompLearner> SeccompLearner::spawn() {
  OCIRUN_TRY_ASSIGN(auto ends, linux::MessageSocket::make_pair());
  OCIRUN_TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ends.first.close();
    run_child(ends.second);
  }
  SeccompLearner learner;
  learner.child_ = std::move(child);
  learner.socket_ = std::move(ends.first);
  return learner;
}

Result<void> SeccompLearner::watch(Fd listener) const {
  return socket_.send(static_cast<std::uint8_t>(Word::kWatch), {}, std::array{listener});
}

Result<SeccompLearner::Learned> SeccompLearner::collect() const {
  ignore(socket_.send(static_cast<std::uint8_t>(Word::kFinish)));
  Learned learned;
  for (;;) {
    pollfd watched{socket_.fd().value, POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(kPatience.count())) != 1)
      return refuse("the process that notes the system calls has not answered");
    OCIRUN_TRY_ASSIGN(const linux::Packet packet, socket_.receive());
    if (packet.end_of_stream) return refuse("the process that notes the system calls has died");
    const auto lines = linux::words(packet.payload, '\n');
    if (static_cast<Word>(packet.tag) == Word::kUnknown)
      learned.unknown.assign(lines.begin(), lines.end());
    if (static_cast<Word>(packet.tag) != Word::kNames) continue;
    learned.names.insert(lines.begin(), lines.end());
    return learned;
  }
}

SeccompLearner::~SeccompLearner() {
  if (child_.pid == 0) return;
  socket_.close();
  linux::kill_child(child_);
}

}  // namespace ocirun::runtime
