#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/unique_fd.hpp"
#include "shim/loop/async.hpp"
#include "shim/loop/children.hpp"
#include "shim/loop/loop.hpp"
#include "shim/streams/logger.hpp"
#include "shim/streams/pump.hpp"

namespace ocirun::shim {

/// Where the standard streams of a process come from and go to, as containerd names them: "" for
/// /dev/null, the path of a fifo or file, "fifo:///PATH", "file:///PATH". If `out` is
/// "binary:///PROGRAM?NAME=VALUE" or "binary-v2:///…", this logging program gets out and err.
struct StreamNames {
  std::string in, out, err;
  bool terminal = false;  // err is not used then
};

/// The user and group that own the pipes of a process, so that it can open /dev/stdout again.
struct PipeOwner {
  std::uint32_t uid = 0, gid = 0;
};

/// The standard streams of one process, from its creation until its deletion.
class Streams : public std::enable_shared_from_this<Streams> {
 public:
  /// Opens what `names` name. Errors: a path that cannot be opened; a scheme that is not supported;
  /// a logging program that does not say within 10 s that it is ready.
  static Async<Result<std::shared_ptr<Streams>>> open(Children& children, StreamNames names,
                                                      PipeOwner owner, LoggedContainer container);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// Descriptors 0, 1 and 2 for the runtime, which passes them on to the process.
  std::vector<Fd> for_runtime() const { return {in_.theirs, out_.theirs, err_.theirs}; }
  /// Begins to move the bytes of pipes. Called before the runtime runs: its errors may be longer
  /// than a pipe holds.
  void start_pipes();
  /// Closes the process's ends, when the runtime has passed them on. `terminal`: the master of the
  /// process's terminal, whose bytes are moved from now on; -1: none.
  Result<void> start(UniqueFd terminal);
  /// Called when the client has no more input. What the client has written before still reaches the
  /// process.
  void close_stdin() { input_holder_.reset(); }
  /// Errors: the process has no terminal.
  Result<void> resize(std::uint32_t width, std::uint32_t height) const;
  /// Given when all output has been moved; with a logging program, when that program has ended.
  Notice& drained() { return drained_; }
  bool has_logger() const { return logger_.pid != 0; }

 private:
  struct End {
    UniqueFd theirs, ours;  // the process's end and the shim's end of a pipe
    UniqueFd outside;       // what the shim's end is moved to or from
  };
  explicit Streams(Children& children)
      : children_(children), loop_(children.loop()), drained_(loop_) {}
  Result<void> open_in(const StreamNames& names, const PipeOwner& owner);
  Result<void> open_out(const std::string& name, const StreamNames& names, const PipeOwner& owner,
                        End& end);
  Result<void> open_outside(const std::string& name, End& end);
  Result<void> open_all(const StreamNames& names, const PipeOwner& owner,
                        const LoggedContainer& container);
  Result<void> start_logger(const StreamNames& names, const PipeOwner& owner,
                            const LoggedContainer& container);
  void pump_out(UniqueFd source, UniqueFd sink);

  Children& children_;
  Loop& loop_;
  End in_, out_, err_;
  UniqueFd input_holder_;          // a writing end of the fifo: while open, the input does not end
  std::vector<UniqueFd> readers_;  // reading ends: output fifos keep the bytes for an absent client
  UniqueFd terminal_;
  Logger logger_;
  std::unique_ptr<Pump> input_;
  std::vector<std::unique_ptr<Pump>> outputs_;
  std::size_t running_outputs_ = 0;
  Notice drained_;
};

}  // namespace ocirun::shim
