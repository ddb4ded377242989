#pragma once

// Frames of ttrpc (PROTOCOL.md of containerd/ttrpc): ten bytes of header, then a message.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ocirun::shim::ttrpc {

inline constexpr std::size_t kHeaderSize = 10;
inline constexpr std::size_t kMostMessage = std::size_t{4} << 20;  // bytes, without the header

enum class FrameType : std::uint8_t { kRequest = 1, kResponse = 2, kData = 3 };

struct Header {
  std::uint32_t length = 0;  // of the message behind the header
  std::uint32_t stream = 0;  // odd for the streams that a client begins
  std::uint8_t type = 0;     // a FrameType, or one that is not known
  std::uint8_t flags = 0;
};

/// Appends a frame to `out`. The message has at most kMostMessage bytes.
void append_frame(std::string& out, FrameType type, std::uint32_t stream, std::string_view message);

/// A frame that was read. The message of a frame that is too long is left out.
struct Frame {
  Header header;
  std::string message;
  bool is_too_long = false;
};

/// Cuts a stream of bytes into frames, whatever pieces the bytes come in.
class FrameReader {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  /// The next whole frame, if its bytes have come. The bytes of a message that is too long are
  /// thrown away as they come, so that at most kMostMessage bytes are kept.
  std::optional<Frame> next();
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t unwanted_ = 0;  // bytes to come of a message that is too long
};

}  // namespace ocirun::shim::ttrpc
