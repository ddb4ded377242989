#pragma once

#include <chrono>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/documents/model/digest.hpp"

namespace ocirun::pods {

/// Locks of single layers of a store. Each layer has one byte of the file "lock", so that no lock
/// files accumulate. Two layers whose chain ids have the same first 60 bits share a byte, which
/// only makes one wait without need. A lock lasts until the last copy of the descriptor is closed.
class LayerLocks {
 public:
  static Result<LayerLocks> open(Fd store);
  /// Locks a layer. Waits until no other object has the lock.
  Result<void> take(const Digest& chain_id);
  /// Locks a layer if nobody else has the lock. Returns whether it did.
  Result<bool> try_take(const Digest& chain_id);
  void release(const Digest& chain_id);
  Fd fd() const { return file_; }

 private:
  explicit LayerLocks(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

/// Locks the whole store with flock(2) on its file "lease", as long as the descriptor is open.
/// Several processes can have this lock.
Result<UniqueFd> lock_store_shared(Fd store);
/// Locks the whole store for the caller alone. Waits at most `patience` for the others.
Result<UniqueFd> lock_store_alone(Fd store, std::chrono::milliseconds patience);

}  // namespace ocirun::pods
