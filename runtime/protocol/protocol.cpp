#include "runtime/protocol/protocol.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "linux/base/text.hpp"
#include "linux/base/timeline.hpp"

namespace ocirun::runtime {
namespace {

// shorten() removes the middle of a frame of an Error that is longer than kMaxFrame. The end of a
// long frame, such as the output of a hook, often tells the reason.
constexpr std::size_t kMaxFrame = 32 * 1024;
constexpr std::size_t kBeginning = 1024;
constexpr std::size_t kMaxErrorBytes = 56 * 1024;

std::string shorten(std::string frame) {
  if (frame.size() <= kMaxFrame) return frame;
  return frame.substr(0, kBeginning) + " [...] " +
         frame.substr(frame.size() - (kMaxFrame - kBeginning));
}

const Exchange* find_exchange(Message question) {
  const auto row = std::ranges::find(kExchanges, question, &Exchange::question);
  return row == kExchanges.end() ? nullptr : &*row;
}

}  // namespace

std::string_view message_name(Message message) {
  const Exchange* row = find_exchange(message);
  return row == nullptr ? "an answer" : row->name;
}

Result<void> Conversation::hear(Message message) {
  for (std::size_t index = next_; index < kExchanges.size(); ++index) {
    const Exchange& row = kExchanges[index];
    if (row.question != message) continue;
    next_ = row.repeatable ? index : index + 1;
    last_ = &row;
    return {};
  }
  return fail(EPROTO, "the container's process sent {} after {}", message_name(message), last());
}

Result<void> tell(const linux::MessageSocket& peer, Message message, std::string_view payload,
                  std::span<const Fd> descriptors) {
  return peer.send(static_cast<std::uint8_t>(message), payload, descriptors);
}

Result<linux::Packet> ask(const linux::MessageSocket& parent, Message question,
                          std::string_view payload) {
  linux::timeline::Wait wait("wait for ocirun");
  if (linux::timeline::is_on()) wait.set_object(message_name(question));
  OCIRUN_TRY(tell(parent, question, payload));
  OCIRUN_TRY_ASSIGN(linux::Packet answer, parent.receive());
  if (answer.end_of_stream)
    return fail(EPIPE, "ocirun ended before it answered {}", message_name(question));
  const Exchange* row = find_exchange(question);
  if (row == nullptr || static_cast<Message>(answer.tag) != row->answer)
    return fail(EPROTO, "wrong answer to {}", message_name(question));
  return answer;
}

Result<void> await_go(const linux::MessageSocket& parent) {
  const linux::timeline::Wait wait("wait for ocirun", "Go");
  OCIRUN_TRY_ASSIGN(const linux::Packet packet, parent.receive());
  if (packet.end_of_stream) return fail(EPIPE, "the runtime died");
  if (static_cast<Message>(packet.tag) != Message::kGo) return fail(EPROTO, "expected Go");
  return {};
}

Result<int> parse_number(std::string_view payload) {
  const auto number = linux::number<int>(payload);
  if (!number) return fail(EPROTO, "expected a number, not \"{}\"", payload);
  return *number;
}

std::string error_bytes(const Error& error) {
  const int number = error.number();
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  for (const std::string& frame : error.frames()) {
    bytes += shorten(frame.substr(0, frame.find('\0')));
    bytes += '\0';
  }
  bytes.resize(std::min(bytes.size(), kMaxErrorBytes));
  return bytes;
}

Error parse_error_bytes(std::string_view bytes) {
  int number = 0;
  if (bytes.size() < sizeof(number)) return Error(EPROTO, "an error without a text");
  std::memcpy(&number, bytes.data(), sizeof(number));
  bytes.remove_prefix(sizeof(number));
  std::vector<std::string> frames;
  while (!bytes.empty()) frames.emplace_back(linux::cut(bytes, '\0'));
  if (frames.empty()) frames.emplace_back("an error without a text");
  return Error(number, std::move(frames));
}

}  // namespace ocirun::runtime
