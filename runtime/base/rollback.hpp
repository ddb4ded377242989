#pragma once

#include <functional>
#include <ranges>
#include <utility>
#include <vector>

#include "linux/base/memory_reserve.hpp"

namespace ocirun::runtime {

/// Undoes, last first, what was registered before it was done; commit() keeps it all.
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
  // Memory that ends a second time: what this step leaves is for `delete --force`, the others run.
  static void undo(const std::function<void()>& step) {
    [[maybe_unused]] const auto ignored = linux::within_memory([&]() -> Result<void> {
      step();
      return {};
    });
  }

  std::vector<std::function<void()>> steps_;
};

}  // namespace ocirun::runtime
