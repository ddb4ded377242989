#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"
#include "runtime/base/rollback.hpp"

namespace ocirun::runtime {

/// A short-lived child process that changes something inside a container, in two steps: run() makes
/// the change, keep() makes the change final. If the socket to the child is closed without keep(),
/// also because this process died, the child undoes the change. A child that waits for a file
/// system of the container is killed after ten seconds.
class ContainerChild {
 public:
  /// The change. Adds to `undo` what takes it back, and returns a text for the parent.
  using Act = std::function<Result<std::string>(Rollback& undo)>;

  /// Runs `act` in the child, which keeps only the descriptors `kept`, and returns when `act` has.
  /// `what` names the change in messages: "change device nodes". Errors: those of `act`, which is
  /// then undone; no answer within ten seconds.
  static Result<ContainerChild> run(const char* what, std::vector<Fd> kept, const Act& act);
  ContainerChild(ContainerChild&& other) noexcept
      : socket_(std::move(other.socket_)),
        child_(std::exchange(other.child_, {})),
        is_stuck_(other.is_stuck_),
        told_(std::move(other.told_)) {}
  ContainerChild& operator=(ContainerChild&&) = delete;
  ~ContainerChild();

  /// What `act` has returned.
  const std::string& told() const { return told_; }
  void keep();

 private:
  ContainerChild() = default;
  linux::MessageSocket socket_;
  linux::Child child_;
  bool is_stuck_ = false;  // the child waits for a file system that does not answer
  std::string told_;
};

}  // namespace ocirun::runtime
