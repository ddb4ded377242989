#include "runtime/parent/child_link.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "runtime/base/await.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::chrono::seconds kPatienceWithTheDead{10};

// "31 (SIGSYS)"
std::string signal_text(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("{}", signal) : fmt::format("{} (SIG{})", signal, name);
}

}  // namespace

void ChildLink::kill() {
  if (child_.pid != 0) linux::kill_child(child_);
}

Error ChildLink::death_report() {
  const auto status = linux::collect_child(child_, kPatienceWithTheDead);
  std::string how = "ended (one of its processes does not: is it waiting for the kernel?)";
  if (status && WIFSIGNALED(*status))
    how = "was killed by signal " + signal_text(WTERMSIG(*status));
  if (status && WIFEXITED(*status))
    how = fmt::format("exited with status {}", WEXITSTATUS(*status));
  return Error(
      0, fmt::format("the container's process {} while {}{}", how, activity(), cause_of_death()));
}

// A stage that dies before it has told of the process it cloned leaves that one with the other end
// of the socket: there is no end of stream then.
Result<void> ChildLink::await_packet() {
  TRY(within(await_word(socket_.fd(), child_.pidfd,
                        [this](std::chrono::seconds so_far) { return hear_nothing(so_far); }),
             fmt::format("while {}", activity())));
  // What it said before it died arrived before its death did.
  pollfd word{socket_.fd().value, POLLIN, 0};
  if (::poll(&word, 1, 0) != 0) return {};
  socket_.close();  // whoever still listens there ends, too
  return std::unexpected(death_report());
}

Result<linux::Packet> ChildLink::hear() {
  TRY(await_packet());
  TRY_ASSIGN(linux::Packet packet, socket_.receive());
  if (packet.end_of_stream) return std::unexpected(death_report());
  if (static_cast<Message>(packet.tag) == Message::kFailed)
    return std::unexpected(parse_error_bytes(packet.payload));
  TRY(conversation_.hear(static_cast<Message>(packet.tag)));
  return packet;
}

Result<void> ChildLink::serve() {
  for (;;) {
    TRY_ASSIGN(const linux::Packet packet, hear());
    const Message question = static_cast<Message>(packet.tag);
    if (question == Message::kReady) return {};
    if (question == Message::kForked) {
      TRY(adopt(packet));
      TRY(greet());
    } else {
      TRY(answer(packet));
    }
    const auto row = std::ranges::find(kExchanges, question, &Exchange::question);
    if (row->answer == Message::kGo) TRY(say(Message::kGo));
  }
}

// The stage has cloned the process as our child: from now on that is whom we watch, signal and
// collect.
Result<void> ChildLink::adopt(const linux::Packet& packet) {
  TRY_ASSIGN(const int pid, parse_number(packet.payload));
  linux::Child stage = std::exchange(
      child_, {.pid = pid, .pidfd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))});
  if (linux::collect_child(stage, kPatienceWithTheDead)) return {};
  linux::kill_child(stage);
  return refuse("the process that joined the namespaces has not ended for {} s",
                kPatienceWithTheDead.count());
}

// A child that is gone has said why, or its end tells more than our broken pipe.
Result<void> ChildLink::say(Message message, std::string_view payload,
                            std::span<const Fd> descriptors) {
  auto said = tell(socket_, message, payload, descriptors);
  if (!said && said.error().number() == EPIPE) TRY(hear());
  return said;
}

Result<void> ChildLink::send_tree(Fd tree) {
  return say(Message::kMountTree, {}, std::span(&tree, 1));
}

Result<void> ChildLink::detach() {
  TRY(say(Message::kCommitted));
  TRY_ASSIGN(const linux::Packet packet, hear());
  if (static_cast<Message>(packet.tag) != Message::kDetached)
    return fail(EPROTO, "waited for Detached");
  return {};
}

Result<void> ChildLink::await_exec() {
  TRY(await_packet());  // not without end: the container may stop its process before execve
  TRY_ASSIGN(const linux::Packet packet, socket_.receive());
  if (packet.end_of_stream) return {};
  if (static_cast<Message>(packet.tag) == Message::kFailed)
    return std::unexpected(parse_error_bytes(packet.payload));
  return fail(EPROTO, "waited for execve");
}

}  // namespace ocirun::runtime
