#pragma once

#include <string>

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
  /// Checks the directory, and makes a tmpfs that is not mounted yet. Errors: the directory is not
  /// empty; its parent is missing; EPERM if the caller may not mount; a kernel before Linux 5.8.
  static Result<NamespacePins> plan(const HostPath& directory);
  /// For the container's record, which has to be written before mount(): `delete` then finds the
  /// mount whenever this process is killed.
  const bundle::NamespacePinRecord& record() const { return record_; }
  /// Makes the directory if it is missing, mounts the tmpfs, and on it the namespaces of process
  /// `pid` that `namespaces` makes: DIR/net, DIR/mnt, with the names of /proc/PID/ns.
  Result<void> mount(int pid, const linux::NamespaceSet& namespaces);

 private:
  NamespacePins() = default;
  Result<void> make_place();

  UniqueFd parent_, place_;  // no place: it is made in `parent_`
  std::string name_;
  UniqueFd tmpfs_;
  bundle::NamespacePinRecord record_;
};

enum class PinsFound { kUnmounted, kNone };
/// Unmounts what NamespacePins::mount() has mounted. kNone: nothing, or something else, is mounted
/// there. Removes the directory if mount() made it and it is empty.
Result<PinsFound> remove_pins(const bundle::NamespacePinRecord& record);

}  // namespace ocirun::runtime
