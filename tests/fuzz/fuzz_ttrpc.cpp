// A client's bytes to the shim. The input: N, the lengths of N pieces (one byte each), and the
// bytes of the connection, which are cut into pieces of these lengths, again and again. N and the
// lengths are taken modulo 16 and 256. Each whole frame is a request, and its payload each message
// that containerd may send.
#include <algorithm>
#include <vector>

#include "shim/messages/message.hpp"
#include "shim/ttrpc/frame.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using ttrpc::Frame;

namespace {

template <typename... Messages>
struct List {};
using Requests =
    List<Shim__CreateRequest, Shim__ExecRequest, Shim__ProcessRequest, Shim__ResizeRequest,
         Shim__KillRequest, Shim__CloseRequest, Shim__CheckpointRequest, Shim__UpdateRequest,
         Shim__ShutdownRequest, Shim__Any, Shim__Options, Shim__CheckpointOptions, Shim__Response>;

/// What is written again reads as the same.
template <typename Message>
void check_message(std::string_view bytes) {
  const auto message = Received<Message>::read(bytes);
  if (!message) return;
  const std::string written = bytes_of(**message);
  const auto again = Received<Message>::read(written);
  fuzz::require(again.has_value());
  fuzz::require(bytes_of(**again) == written);
}

template <typename... Messages>
void check_messages(std::string_view bytes, List<Messages...>) {
  (check_message<Messages>(bytes), ...);
}

std::vector<Frame> frames_of(std::string_view bytes, std::string_view lengths) {
  ttrpc::FrameReader reader;
  std::vector<Frame> frames;
  for (std::size_t i = 0; !bytes.empty(); ++i) {
    const std::size_t length =
        lengths.empty() ? bytes.size() : static_cast<std::uint8_t>(lengths[i % lengths.size()]);
    reader.add(bytes.substr(0, std::max<std::size_t>(length, 1)));
    bytes.remove_prefix(std::min(std::max<std::size_t>(length, 1), bytes.size()));
    while (auto frame = reader.next()) frames.push_back(*std::move(frame));
  }
  return frames;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes = fuzz::text_of(data, size);
  if (bytes.empty()) return 0;
  const std::size_t count = std::min<std::size_t>(data[0] % 16U, bytes.size() - 1);
  const std::string_view lengths = bytes.substr(1, count);
  bytes.remove_prefix(1 + count);

  const std::vector<Frame> frames = frames_of(bytes, lengths), whole = frames_of(bytes, "");
  fuzz::require(frames.size() == whole.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Frame &frame = frames[i], &other = whole[i];
    fuzz::require(frame.message == other.message && frame.is_too_long == other.is_too_long &&
                  frame.header.length == other.header.length &&
                  frame.header.stream == other.header.stream &&
                  frame.header.type == other.header.type);
    fuzz::require(frame.is_too_long
                      ? frame.message.empty() && frame.header.length > ttrpc::kMostMessage
                      : frame.message.size() == frame.header.length);
    check_message<Shim__Request>(frame.message);
    check_messages(frame.message, Requests{});
    if (const auto request = Received<Shim__Request>::read(frame.message))
      check_messages(bytes_of((*request)->payload), Requests{});
  }
  return 0;
}
