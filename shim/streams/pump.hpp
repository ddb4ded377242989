#pragma once

#include <functional>
#include <memory>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "shim/loop/loop.hpp"

namespace ocirun::shim {

/// Moves the bytes of one stream: of a container's output to containerd's fifo or to a file, or of
/// containerd's fifo to a container's input. It reads only what the sink takes. The bytes of pipes
/// do not pass through the memory of the shim (splice(2)).
class Pump {
 public:
  /// Both descriptors are nonblocking, except a sink that is a regular file. `ended` is called
  /// once, when the source has ended or the sink has no reader; both descriptors are closed then.
  Pump(Loop& loop, UniqueFd source, UniqueFd sink, std::function<void()> ended);
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;
  ~Pump() { close(); }

  void start();

 private:
  enum class Waits : std::uint8_t { kNot, kForSource, kForSink };
  enum class Moved : std::uint8_t { kSome, kNothing, kEnd };
  void move();
  Moved splice_once();
  Moved copy_once();
  Moved write_pending();
  void wait_for(Waits which);
  void end();
  void close();

  Loop& loop_;
  UniqueFd source_, sink_;
  std::function<void()> ended_;
  bool splices_ = true;
  std::string pending_;  // bytes that were read and not written; at most kMostPending
  Waits waits_ = Waits::kNot;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // tells posted calls: still there
};

}  // namespace ocirun::shim
