#include "runtime/parent/tree_child.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <span>

#include "linux/base/message_socket.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "runtime/parent/child_link.hpp"
#include "runtime/protocol/protocol.hpp"

namespace ocirun::runtime {

Result<UniqueFd> open_in_child(const std::function<Result<UniqueFd>()>& open, std::vector<Fd> keep,
                               const OnSilence& on_silence) {
  OCIRUN_TRY_ASSIGN(auto ends, linux::MessageSocket::make_pair());
  OCIRUN_TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_DUMPABLE, 0);  // `open` may join the container's user namespace
    // The child must not hold the lock of the state directory: the child may hang in a filesystem.
    keep.push_back(ends.second.fd());
    linux::close_descriptors_but(keep);
    const auto tree = open();
    const Fd fd = tree ? Fd(*tree) : Fd{};
    const auto told = tree ? tell(ends.second, Message::kMountTree, {}, std::span(&fd, 1))
                           : tell(ends.second, Message::kFailed, error_bytes(tree.error()));
    ::_exit(told ? 0 : 1);
  }
  ends.second.close();
  const auto awaited = await_word(ends.first.fd(), Fd{}, on_silence);
  auto received = awaited ? ends.first.receive() : Result<linux::Packet>();
  linux::kill_child(child);  // the child has answered, or hangs in a filesystem
  OCIRUN_TRY(awaited);
  OCIRUN_TRY_ASSIGN(linux::Packet packet, std::move(received));
  if (packet.end_of_stream) return fail(EPIPE, "the process that opens the mount died");
  if (static_cast<Message>(packet.tag) == Message::kFailed)
    return std::unexpected(parse_error_bytes(packet.payload));
  if (packet.descriptors.size() != 1) return fail(EPROTO, "MountTree without a descriptor");
  return std::move(packet.descriptors.front());
}

}  // namespace ocirun::runtime
