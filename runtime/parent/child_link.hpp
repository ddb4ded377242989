#pragma once

#include <chrono>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/process/clone.hpp"
#include "runtime/protocol/protocol.hpp"

namespace ocirun::runtime {

/// The parent's end of a conversation with a process that it has cloned (protocol.hpp), and that
/// process.
class ChildLink {
 public:
  virtual ~ChildLink() = default;

  int pid() const { return child_.pid; }
  const linux::Child& child() const { return child_; }
  linux::Child take_child() { return std::move(child_); }

  /// Answers until Ready.
  Result<void> serve();
  /// Committed, Detached: the child no longer dies with us.
  Result<void> detach();
  /// After detach(): waits for execve, which closes the child's end. Errors: the child's own.
  Result<void> await_exec();
  /// Ends what is left of the child and collects it. For a rollback.
  void kill();

 protected:
  /// What to do about one message, but for Forked and Ready; kGo is sent afterwards where the
  /// protocol says so.
  virtual Result<void> answer(const linux::Packet& packet) = 0;
  /// Called when a stage has told of the process that it cloned, which still waits for Go.
  virtual Result<void> greet() { return {}; }
  /// Called after each ten seconds without a word of the child's. An error ends the wait.
  virtual Result<void> hear_nothing(std::chrono::seconds so_far) = 0;
  const Conversation& conversation() const { return conversation_; }
  /// What the child does now, as in "was killed while …".
  virtual std::string activity() const { return std::string(conversation_.activity()); }
  /// More to say of a child that died.
  virtual std::string cause_of_death() const { return {}; }

  /// Waits for the next message. Errors: the child's, its death, a signal that ends us.
  Result<linux::Packet> hear();
  /// Errors: the child's own, or its death, where nobody listens any more.
  Result<void> say(Message message, std::string_view payload = {},
                   std::span<const Fd> descriptors = {});
  Result<void> send_tree(Fd tree);

  linux::MessageSocket socket_;
  linux::Child child_;  // the stage, until it tells of the process that it cloned

 private:
  Error death_report();
  Result<void> await_packet();
  Result<void> adopt(const linux::Packet& packet);
  Conversation conversation_;
};

}  // namespace ocirun::runtime
