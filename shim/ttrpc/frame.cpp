#include "shim/ttrpc/frame.hpp"

#include <algorithm>

namespace ocirun::shim::ttrpc {
namespace {

void append_number(std::string& out, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(number >> shift & 0xff);
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (const char byte : bytes.substr(at, 4))
    number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

}  // namespace

void append_frame(std::string& out, FrameType type, std::uint32_t stream,
                  std::string_view message) {
  append_number(out, static_cast<std::uint32_t>(message.size()));
  append_number(out, stream);
  out += static_cast<char>(type);
  out += '\0';  // flags
  out += message;
}

std::optional<Frame> FrameReader::next() {
  const std::size_t thrown = std::min(unwanted_, bytes_.size());
  bytes_.erase(0, thrown);
  unwanted_ -= thrown;
  if (unwanted_ != 0 || bytes_.size() < kHeaderSize) return std::nullopt;
  Frame frame;
  frame.header = {.length = number_at(bytes_, 0),
                  .stream = number_at(bytes_, 4),
                  .type = static_cast<std::uint8_t>(bytes_[8]),
                  .flags = static_cast<std::uint8_t>(bytes_[9])};
  frame.is_too_long = frame.header.length > kMostMessage;
  if (frame.is_too_long) {
    bytes_.erase(0, kHeaderSize);
    unwanted_ = frame.header.length;
    return frame;
  }
  if (bytes_.size() - kHeaderSize < frame.header.length) return std::nullopt;
  frame.message = bytes_.substr(kHeaderSize, frame.header.length);
  bytes_.erase(0, kHeaderSize + frame.header.length);
  return frame;
}

}  // namespace ocirun::shim::ttrpc
