#include "runtime/parent/child_link.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "linux/base/timeline.hpp"
#include "runtime/base/signals.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::chrono::seconds kPatienceWithTheDead{10};

}  // namespace

void ChildLink::kill() {
  if (child_.pid != 0) linux::kill_child(child_);
}

Error ChildLink::death_report() {
  const auto status = linux::collect_child(child_, kPatienceWithTheDead);
  const std::string how =
      status ? linux::describe_end(status)
             : "ended, but it cannot be collected (it may hang in the kernel: state D in ps)";
  return Error(
      0, fmt::format("the container's process {} while {}{}", how, activity(), cause_of_death()));
}

// Waits for a packet or the death of the child. End of file does not show every death: if a stage
// dies before sending Forked, the stage's clone keeps the other end of the socket open.
Result<void> ChildLink::await_packet() {
  const auto on_silence = [this](std::chrono::seconds so_far) { return hear_nothing(so_far); };
  OCIRUN_TRY_ASSIGN(const Heard heard, within(await_word(socket_.fd(), child_.pidfd, on_silence),
                                              "while {}", activity()));
  if (heard == Heard::kWord) return {};
  // If the child has died, a packet that the child sent before is in the socket by now.
  pollfd word{socket_.fd().value, POLLIN, 0};
  if (::poll(&word, 1, 0) != 0) return {};
  socket_.close();  // the end of the stream also ends a process that the stage has cloned
  return std::unexpected(death_report());
}

Result<linux::Packet> ChildLink::hear() {
  linux::timeline::Wait wait("wait for the container's process");
  OCIRUN_TRY(await_packet());
  OCIRUN_TRY_ASSIGN(linux::Packet packet, socket_.receive());
  if (packet.end_of_stream) return std::unexpected(death_report());
  if (static_cast<Message>(packet.tag) == Message::kFailed)
    return std::unexpected(parse_error_bytes(packet.payload));
  OCIRUN_TRY(conversation_.hear(static_cast<Message>(packet.tag)));
  wait.set_object(conversation_.last());
  return packet;
}

Result<void> ChildLink::serve() {
  for (;;) {
    OCIRUN_TRY_ASSIGN(const linux::Packet packet, hear());
    const Message question = static_cast<Message>(packet.tag);
    if (question == Message::kReady) return {};
    if (question == Message::kForked) {
      OCIRUN_TRY(adopt(packet));
      OCIRUN_TRY(greet());
    } else {
      OCIRUN_TRY(answer(packet));
    }
    const auto row = std::ranges::find(kExchanges, question, &Exchange::question);
    if (row->answer == Message::kGo) OCIRUN_TRY(say(Message::kGo));
  }
}

// Replaces the stage in `child_` by the process that the stage has cloned. That process is a child
// of this process (CLONE_PARENT).
Result<void> ChildLink::adopt(const linux::Packet& packet) {
  OCIRUN_TRY_ASSIGN(const int pid, parse_number(packet.payload));
  linux::Child stage = std::exchange(
      child_, {.pid = pid, .pidfd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))});
  if (linux::collect_child(stage, kPatienceWithTheDead)) return {};
  linux::kill_child(stage);
  return refuse("the process that joined the namespaces has not ended for {} s",
                kPatienceWithTheDead.count());
}

// After EPIPE, hear() returns the error that the child has sent, or the child's death.
Result<void> ChildLink::say(Message message, std::string_view payload,
                            std::span<const Fd> descriptors) {
  auto said = tell(socket_, message, payload, descriptors);
  if (!said && said.error().number() == EPIPE) OCIRUN_TRY(hear());
  return said;
}

Result<void> ChildLink::send_tree(Fd tree) {
  return say(Message::kMountTree, {}, std::span(&tree, 1));
}

Result<void> ChildLink::detach() {
  OCIRUN_TRY(say(Message::kCommitted));
  OCIRUN_TRY_ASSIGN(const linux::Packet packet, hear());
  if (static_cast<Message>(packet.tag) != Message::kDetached)
    return fail(EPROTO, "waited for Detached");
  return {};
}

Result<void> ChildLink::await_exec() {
  const linux::timeline::Wait wait("wait for execve");
  OCIRUN_TRY(await_packet());  // hear_nothing() can end the wait for a stopped process
  OCIRUN_TRY_ASSIGN(const linux::Packet packet, socket_.receive());
  if (packet.end_of_stream) return {};
  if (static_cast<Message>(packet.tag) == Message::kFailed)
    return std::unexpected(parse_error_bytes(packet.payload));
  return fail(EPROTO, "waited for execve");
}

Result<void> ChildLink::write_oom_score(const linux::Procfs& procfs, int score) const {
  return procfs.write(fmt::format("{}/oom_score_adj", pid()), fmt::format("{}", score));
}

}  // namespace ocirun::runtime
