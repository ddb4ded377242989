#pragma once

// The bytes of criu's images, for tests that write images.

#include <cstdint>
#include <initializer_list>
#include <string>

#include "criu/dump/format.hpp"

namespace ocirun::test {

/// A number in the byte order of the machine: x86_64 and aarch64 begin with the least byte.
inline std::string word(std::uint32_t value) {
  std::string bytes;
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>((value >> shift) & 0xFFU);
  return bytes;
}

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>((value & 127U) | 128U);
  return bytes + static_cast<char>(value);
}
/// A field of protobuf that holds a number.
inline std::string number(unsigned field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
/// A field of protobuf that holds a text or a message.
inline std::string text(unsigned field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

/// An image with these entries.
inline std::string image(runtime::ImageKind kind, std::initializer_list<std::string> entries) {
  std::string bytes = kind == runtime::ImageKind::kInventory ? "" : word(0x54564319);
  bytes += word(static_cast<std::uint32_t>(kind));
  for (const std::string& entry : entries)
    bytes += word(static_cast<std::uint32_t>(entry.size())) + entry;
  return bytes;
}

}  // namespace ocirun::test
