#pragma once

#include "bundle/documents/state.hpp"
#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

/// --pin-namespaces DIR: a small tmpfs on DIR, with a file for each namespace of a container. The
/// namespace is mounted on the file, and so lives without a process. One unmount ends them all.
class NamespacePins {
 public:
  /// Makes the directory if it is missing, and a tmpfs that is not mounted yet. Errors: the
  /// directory is not empty; EPERM if the caller may not mount.
  static Result<NamespacePins> make(const HostPath& directory);
  /// For the container's record, which has to be written before mount(): `delete` then finds the
  /// mount whenever this process is killed.
  const bundle::NamespacePinRecord& record() const { return record_; }
  /// Mounts the tmpfs, and on it the namespaces of process `pid` that `namespaces` makes: DIR/net,
  /// DIR/mnt, with the names of /proc/PID/ns.
  Result<void> mount(int pid, const linux::NamespaceSet& namespaces) const;

 private:
  NamespacePins(UniqueFd place, UniqueFd tmpfs, bundle::NamespacePinRecord record)
      : place_(std::move(place)), tmpfs_(std::move(tmpfs)), record_(std::move(record)) {}
  UniqueFd place_, tmpfs_;
  bundle::NamespacePinRecord record_;
};

enum class PinsFound { kUnmounted, kNone };
/// Unmounts what NamespacePins::mount() has mounted. kNone: nothing, or something else, is mounted
/// there. Removes the directory if make() made it and it is empty.
Result<PinsFound> remove_pins(const bundle::NamespacePinRecord& record);

}  // namespace ocirun::runtime
