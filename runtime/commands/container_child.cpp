#include "runtime/commands/container_child.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

#include "linux/base/memory_reserve.hpp"
#include "linux/process/exec.hpp"
#include "runtime/protocol/protocol.hpp"

namespace ocirun::runtime {
namespace {

// The child sends Done or Failed. The parent answers with Keep, or closes the socket.
enum class Word : std::uint8_t { kDone = 1, kFailed, kKeep };

constexpr std::chrono::seconds kPatience{10};

bool has_packet(const linux::MessageSocket& socket) {
  pollfd watched{socket.fd().value, POLLIN, 0};
  return ::poll(&watched, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) == 1;
}

Result<void> send(const linux::MessageSocket& peer, Word word, std::string_view text = {}) {
  return peer.send(static_cast<std::uint8_t>(word), text);
}

bool is_to_be_kept(const linux::MessageSocket& parent) {
  const auto answer = parent.receive();
  return answer && !answer->end_of_stream && static_cast<Word>(answer->tag) == Word::kKeep;
}

[[noreturn]] void run_child(std::vector<Fd> kept, const ContainerChild::Act& act,
                            const linux::MessageSocket& parent) noexcept {
  ::prctl(PR_SET_NAME, "ocirun:change");
  ::prctl(PR_SET_DUMPABLE, 0);
  kept.push_back(parent.fd());
  linux::close_descriptors_but(kept);
  Rollback undo;
  const auto told = linux::within_memory([&] { return act(undo); });
  if (!told) undo.run();  // before the parent learns of it
  const auto sent = told ? send(parent, Word::kDone, *told)
                         : send(parent, Word::kFailed, error_bytes(told.error()));
  if (told && (!sent || !is_to_be_kept(parent))) undo.run();
  ::_exit(0);  // runs no destructor, and so no step of `undo`
}

}  // namespace

Result<ContainerChild> ContainerChild::run(const char* what, std::vector<Fd> kept, const Act& act) {
  OCIRUN_TRY_ASSIGN(auto ends, linux::MessageSocket::make_pair());
  OCIRUN_TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ends.first.close();
    run_child(std::move(kept), act, ends.second);
  }
  ContainerChild started;
  started.child_ = std::move(child);
  started.socket_ = std::move(ends.first);
  ends.second.close();
  if (!has_packet(started.socket_)) {
    started.is_stuck_ = true;
    return refuse("{}: a filesystem of the container has not answered for {} s", what,
                  kPatience.count());
  }
  OCIRUN_TRY_ASSIGN(const linux::Packet packet, started.socket_.receive());
  if (packet.end_of_stream) return refuse("{}: the process that does so died", what);
  if (static_cast<Word>(packet.tag) == Word::kFailed)
    return std::unexpected(parse_error_bytes(packet.payload));
  started.told_ = packet.payload;
  return started;
}

void ContainerChild::keep() { ignore(send(socket_, Word::kKeep)); }

ContainerChild::~ContainerChild() {
  if (child_.pid == 0) return;
  socket_.close();
  if (is_stuck_ || !linux::collect_child(child_, kPatience)) linux::kill_child(child_);
}

}  // namespace ocirun::runtime
