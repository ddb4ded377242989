#pragma once

#include <chrono>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/clone.hpp"
#include "runtime/protocol/protocol.hpp"

namespace ocirun::runtime {

/// A process that the parent has cloned, and the parent's end of the conversation with it
/// (protocol.hpp).
class ChildLink {
 public:
  virtual ~ChildLink() = default;

  int pid() const { return child_.pid; }
  const linux::Child& child() const { return child_; }
  linux::Child take_child() { return std::move(child_); }

  /// Answers the child's messages until Ready.
  Result<void> serve();
  /// Sends Committed and waits for Detached: from then on the child no longer dies with its parent.
  Result<void> detach();
  /// Called after detach(). Waits for execve, which closes the child's socket. Error: the error
  /// that the child sent.
  Result<void> await_exec();
  /// Kills the child, if it still lives, and collects it. For a rollback.
  void kill();

 protected:
  /// Handles one message that is neither Forked nor Ready, and sends the answer, unless the answer
  /// is Go: serve() sends Go.
  virtual Result<void> answer(const linux::Packet& packet) = 0;
  /// Called once child_ is the container's process: after Forked, while that process waits for Go.
  /// Without a stage, the derived class calls it after the clone.
  virtual Result<void> greet() { return {}; }
  /// Called after each ten seconds without a message of the child. An error ends the wait.
  virtual Result<void> hear_nothing(std::chrono::seconds so_far) = 0;
  const Conversation& conversation() const { return conversation_; }
  /// The present activity of the child, for the sentence "was killed while …".
  virtual std::string activity() const { return std::string(conversation_.activity()); }
  /// A text that is appended to the error about a child that died.
  virtual std::string cause_of_death() const { return {}; }

  /// Waits for the next message. Errors: the error that the child sent; the child's death; a signal
  /// that asks this command to end.
  Result<linux::Packet> hear();
  /// Sends a message. If the child no longer listens, returns the error that it sent, or reports
  /// its death.
  Result<void> say(Message message, std::string_view payload = {},
                   std::span<const Fd> descriptors = {});
  Result<void> send_tree(Fd tree);
  /// Gives the child the OOM score adjustment `score` (P-14). Not to be called while child_ is the
  /// stage: a process that the stage has cloned already would not get the score.
  Result<void> write_oom_score(const linux::Procfs& procfs, int score) const;

  linux::MessageSocket socket_;
  linux::Child child_;  // the stage at first, after Forked the process that it has cloned

 private:
  Error death_report();
  Result<void> await_packet();
  Result<void> adopt(const linux::Packet& packet);
  Conversation conversation_;
};

}  // namespace ocirun::runtime
