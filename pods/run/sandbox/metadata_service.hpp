#pragma once

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "linux/process/clone.hpp"
#include "linux/process/pidfd.hpp"
#include "linux/programs/program.hpp"
#include "pods/metadata/content.hpp"

namespace ocirun::pods {

/// The metadata service of a pod (AC-22), as its supervisor sees it. The supervisor keeps the
/// listening socket, and runs the program ocirun-metadata. If the program ends and is started
/// again, the address stays the same, and clients wait.
class MetadataService {
 public:
  using Clock = std::chrono::steady_clock;

  /// Listens at a free port of 127.0.0.1 that is not in `taken`, in the network namespace `network`
  /// (-1: the caller's). Makes the secrets of the pod. The caller must have a single thread.
  /// Errors: no port is free.
  static Result<MetadataService> listen(Fd network, const std::vector<std::uint16_t>& taken);

  /// The value of AC_METADATA_URL: "http://127.0.0.1:PORT/TOKEN".
  std::string url() const;
  /// The UUID of the pod. listen() has made it.
  const std::string& uuid() const { return content_.uuid; }

  /// Starts the program. It mounts its empty root on the directory `place`, in a mount namespace of
  /// its own. `cgroup` is the path of the cgroup to make for it; "": it stays in the caller's. The
  /// program is killed when the caller ends. Errors: the program is not installed; what the program
  /// has written.
  Result<linux::ProcessIdentity> start(std::vector<Resource> resources, std::string place,
                                       std::string cgroup);

  /// The socket, and the file that the program reads. resume() needs both.
  std::array<Fd, 2> to_keep() const { return {socket_, file_}; }
  /// Goes on with the service of a supervisor that was killed, and whose program has ended with it:
  /// start_again() is due. `place` and `cgroup` as for start(). The result
  /// knows neither url() nor uuid().
  static MetadataService resume(UniqueFd socket, UniqueFd file, std::string place,
                                std::string cgroup);

  /// Must be called when the program has ended, with the status of waitpid(2). It is started again
  /// after a pause. Returns why it has ended.
  std::string ended(std::optional<int> status, Clock::time_point now);
  /// The next time when start_again() or take_answer() has something to do without an event.
  Clock::time_point next() const { return std::min(due_, deadline_); }
  /// Whether the program has to be started again.
  bool must_start(Clock::time_point now) const { return now >= due_; }
  /// Starts the program again, and does not wait for its answer. After an error, tries again later.
  Result<linux::ProcessIdentity> start_again(Clock::time_point now);
  /// Adds the descriptor that becomes readable with the answer.
  void add_wanted(std::vector<pollfd>& watched) const;
  /// Returns true once, when the program that was started answers requests. Errors, after which it
  /// is killed and started again later: what the program has written; it does not answer.
  Result<bool> take_answer(Clock::time_point now);

 private:
  MetadataService(UniqueFd socket, std::uint16_t port, Content content)
      : socket_(std::move(socket)), port_(port), content_(std::move(content)) {}
  Result<linux::ProcessIdentity> launch();
  bool hear();

  UniqueFd socket_;
  std::uint16_t port_;
  Content content_;
  UniqueFd file_;  // a file in memory, from which the program reads its content
  std::string place_, cgroup_;
  int pid_ = 0;      // of the program, until it has answered
  UniqueFd answer_;  // has the program's errors, and is closed when it answers; empty afterwards
  std::string said_;
  linux::Backoff backoff_;
  Clock::time_point started_, due_ = Clock::time_point::max(), deadline_ = Clock::time_point::max();
};

}  // namespace ocirun::pods
