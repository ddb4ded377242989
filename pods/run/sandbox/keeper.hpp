#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "linux/base/message_socket.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::pods {

/// The keeper of a pod: a process ("ocirun-hold keep") that outlives the supervisor, and from which
/// another supervisor takes the pod over. The keeper is in the mount namespace of the pod, which
/// has the root filesystems and the volumes. It has copies of descriptors, each in a slot: the
/// output pipes of the containers, which would break without a reader, pidfds of their programs,
/// which tell the exit status after the end, the locks of the pod, and the socket and the content
/// of the metadata service.
class Keeper {
 public:
  /// The slot of the metadata service's socket; that of its content follows.
  static constexpr std::uint16_t kMetadata = 10;
  /// The slot of a container's standard output; that of standard error follows. `index`: the
  /// container's place in the pod's record.
  static constexpr std::uint16_t output_slot(std::size_t index) {
    return static_cast<std::uint16_t>(kMetadata + 2 + 3 * index);
  }
  /// The slot of the pidfd of a container's program.
  static constexpr std::uint16_t program_slot(std::size_t index) {
    return static_cast<std::uint16_t>(output_slot(index) + 2);
  }
  /// The slot of the lock `index` of a pod with so many `containers`.
  static constexpr std::uint16_t lock_slot(std::size_t containers, std::size_t index) {
    return static_cast<std::uint16_t>(output_slot(containers) + index);
  }

  /// Starts a keeper in the caller's mount namespace. Calls `record` before the process can outlive
  /// the caller.
  static Result<Keeper> start(
      const std::function<Result<void>(const linux::ProcessIdentity&)>& record);
  /// The keeper of a pod whose supervisor was killed. Errors: the keeper has ended; Linux before
  /// 5.6.
  static Result<Keeper> find(const linux::ProcessIdentity& process);

  /// Puts a copy of one or two descriptors into `slot` and the following one, in the place of what
  /// is there. Errors: EPIPE: the keeper has ended.
  Result<void> keep(std::uint16_t slot, std::span<const Fd> descriptors) const;
  /// A copy of the descriptor in a slot. Errors: EBADF: the slot is empty.
  Result<UniqueFd> take(std::uint16_t slot) const;
  /// Moves the calling process, which must have a single thread, to the keeper's mount namespace.
  Result<void> enter_mount_namespace() const;
  const linux::ProcessIdentity& process() const { return process_; }

 private:
  Keeper(const linux::ProcessIdentity& process, linux::MessageSocket requests)
      : process_(process), requests_(std::move(requests)) {}

  linux::ProcessIdentity process_;
  linux::MessageSocket requests_;
};

}  // namespace ocirun::pods
