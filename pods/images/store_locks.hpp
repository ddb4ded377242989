#pragma once

#include <chrono>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/digest.hpp"

namespace ocirun::pods {

/// The locks of single layers of a store: one byte of the file "lock" for each, so that nothing
/// accumulates. Layers whose chain ids begin alike would share a byte, which makes one wait without
/// need. The object, or a process that has a copy of its descriptor, keeps the locks.
class LayerLocks {
 public:
  static Result<LayerLocks> open(Fd store);
  /// Waits until no other object has the layer's lock.
  Result<void> take(const Digest& chain_id);
  /// Whether the lock was free, and is taken now.
  Result<bool> try_take(const Digest& chain_id);
  void release(const Digest& chain_id);
  Fd fd() const { return file_; }

 private:
  explicit LayerLocks(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

/// A lease of the store (flock(2) on its file "lease"), which the descriptor holds.
Result<UniqueFd> take_shared_lease(Fd store);
/// Waits at most `patience` until nobody has a lease.
Result<UniqueFd> take_exclusive_lease(Fd store, std::chrono::milliseconds patience);

}  // namespace ocirun::pods
