#pragma once

#include <sys/resource.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/process/spawn.hpp"
#include "shim/loop/async.hpp"
#include "shim/loop/loop.hpp"

namespace ocirun::shim {

/// The end of a process: the status of waitpid(2), and the time (CLOCK_REALTIME).
struct ProcessEnd {
  int status = 0;
  timespec at{};
  /// 0 to 255; 128 + the signal for a process that a signal killed.
  std::uint32_t exit_code() const;
};

/// Collects the ends of the shim's children: of the programs that the shim runs, and of the
/// processes of containers, which the kernel gives to the shim (PR_SET_CHILD_SUBREAPER) when the
/// runtime ends.
class Children {
 public:
  using Ended = std::function<void(const ProcessEnd&)>;

  /// Blocks SIGCHLD, becomes the subreaper, and raises the shim's soft limit of open files: spawn()
  /// gives programs the limit from before. Errors: EMFILE, ENFILE, ENOMEM.
  static Result<std::unique_ptr<Children>> make(Loop& loop);
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children();

  class Memory;
  /// Calls `ended` once when the child ends: at once if it has ended since `memory` began.
  void expect(int pid, const Memory& memory, Ended ended);
  /// Calls `ended` once when the child ends. For a child that the caller has just made: a kept end
  /// of this pid is that of an earlier child.
  void expect(int pid, Ended ended);
  /// Starts a program as linux::spawn() does, with the limit of open files that the shim was given.
  Result<linux::Child> spawn(const linux::ExecArguments& arguments, char* const environment[],
                             const std::vector<Fd>& descriptors) const;
  /// Waits for the end of a child that the caller has just made.
  Async<ProcessEnd> end_of(int pid);
  /// Calls `act` in a child process that has the standard streams alone: for an act that may wait,
  /// such as a mount. The child goes on when the shim is killed. Errors: those of `act`, cut after
  /// 2 KiB; the child was killed. `doing` names the act in errors.
  Async<Result<void>> call(std::function<Result<void>()> act, std::string doing);

  /// Whether the child is expected, and its end has not been collected: its pid is still its own.
  bool is_expected(int pid) const { return expected_.contains(pid); }

  Loop& loop() const { return loop_; }

  /// While a Memory lives, the ends of children that nobody expects are kept: the runtime may have
  /// started a process whose pid is not known yet, and which ends before the runtime does.
  class Memory {
   public:
    explicit Memory(Children& children) : children_(children), since_(children.collected_) {
      ++children_.memories_;
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() {
      if (--children_.memories_ == 0) children_.kept_.clear();
    }

   private:
    friend Children;
    Children& children_;
    std::uint64_t since_;
  };

 private:
  Children(Loop& loop, UniqueFd signals) : loop_(loop), signals_(std::move(signals)) {}
  void collect();

  Loop& loop_;
  UniqueFd signals_;
  rlimit open_files_{};  // before the shim has raised them
  struct Kept {
    ProcessEnd end;
    std::uint64_t number;  // collected_ at that time: a later child may have the same pid
  };
  std::map<int, Ended> expected_;
  std::map<int, Kept> kept_;
  std::uint64_t collected_ = 0;
  int memories_ = 0;
};

}  // namespace ocirun::shim
