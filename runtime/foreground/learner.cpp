#include "runtime/foreground/learner.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>

#include "linux/base/memory_reserve.hpp"
#include "linux/base/text.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/seccomp/filter.hpp"
#include "linux/seccomp/learn.hpp"

namespace ocirun::runtime {
namespace {

// The command sends Watch with the listener, and at the end shuts its side down. The child answers
// with the lists of linux::LearnedCalls. Names is the last one. A message at the end would be lost
// if the child has ended meanwhile, and with it the answer: the kernel then reports ECONNRESET.
enum class Word : std::uint8_t { kWatch = 1, kUnknown, kArchitectures, kNames };

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
  const auto learned = linux::in_words(linux::note_calls(packet.descriptors.front(), parent.fd()));
  const auto send = [&](Word word, const std::string& lines) {
    return parent.send(static_cast<std::uint8_t>(word), lines);
  };
  OCIRUN_TRY(send(Word::kUnknown, lines_of(learned.unknown)));
  OCIRUN_TRY(send(Word::kArchitectures, lines_of(learned.architectures)));
  return send(Word::kNames, lines_of(learned.names));
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

Result<SeccompLearner> SeccompLearner::spawn(HostPath file) {
  OCIRUN_TRY_ASSIGN(auto ends, linux::MessageSocket::make_pair());
  OCIRUN_TRY_ASSIGN(const linux::Child child,
                    linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ends.first.close();
    run_child(ends.second);
  }
  return SeccompLearner(std::move(file), std::move(ends.first));
}

Result<void> SeccompLearner::prepare(bundle::Config& config) {
  if (config.seccomp && config.seccomp->uses_notify())
    return refuse(
        "--seccomp-learn: /linux/seccomp hands system calls to an agent (SCMP_ACT_NOTIFY), and a "
        "process can have one listener only: leave these rules out while learning");
  OCIRUN_TRY_ASSIGN(profile_,
                    within(bundle::LearnedProfile::open(file_, config.seccomp), "--seccomp-learn"));
  if (config.seccomp) return {};
  config.seccomp.emplace();
  config.seccomp->architectures = linux::runnable_architectures();
  return {};
}

Result<void> SeccompLearner::watch(Fd listener) const {
  return socket_.send(static_cast<std::uint8_t>(Word::kWatch), {}, std::array{listener});
}

Result<linux::LearnedCalls> SeccompLearner::collect() const {
  ::shutdown(socket_.fd().value, SHUT_WR);
  linux::LearnedCalls learned;
  for (;;) {
    pollfd watched{socket_.fd().value, POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(kPatience.count())) != 1)
      return refuse("the process that notes the system calls has not answered");
    OCIRUN_TRY_ASSIGN(const linux::Packet packet, socket_.receive());
    if (packet.end_of_stream) return refuse("the process that notes the system calls has died");
    const auto lines = linux::words(packet.payload, '\n');
    switch (static_cast<Word>(packet.tag)) {
      case Word::kUnknown:
        learned.unknown.assign(lines.begin(), lines.end());
        break;
      case Word::kArchitectures:
        learned.architectures.insert(lines.begin(), lines.end());
        break;
      case Word::kNames:
        learned.names.insert(lines.begin(), lines.end());
        return learned;
      default:
        return refuse("the process that notes the system calls has sent no list");
    }
  }
}

Result<void> SeccompLearner::finish(const Log& log) const {
  const auto act = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const auto learned, collect());
    for (const std::string& sentence : learned.unknown) log.warn(sentence);
    return profile_->add(learned);
  };
  return within(act(), "--seccomp-learn");
}

}  // namespace ocirun::runtime
