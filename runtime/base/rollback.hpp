#pragma once

#include <functional>
#include <ranges>
#include <utility>
#include <vector>

#include "linux/base/memory_reserve.hpp"

namespace ocirun::runtime {

/// Runs its steps, the last one first, when it goes out of scope, unless commit() was called. A
/// step that undoes something is added before that thing is done.
class Rollback {
 public:
  Rollback() = default;
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;
  ~Rollback() { run(); }

  void add(std::function<void()> undo) { steps_.push_back(std::move(undo)); }
  void commit() { steps_.clear(); }
  void run() {
    for (auto& step : std::views::reverse(std::exchange(steps_, {}))) undo(step);
  }

 private:
  // Where memory runs out within a step, the other steps run all the same. `delete --force` removes
  // what that step has left.
  static void undo(const std::function<void()>& step) {
    ignore(linux::within_memory([&]() -> Result<void> {
      step();
      return {};
    }));
  }

  std::vector<std::function<void()>> steps_;
};

}  // namespace ocirun::runtime
