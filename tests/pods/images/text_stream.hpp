#pragma once

#include <string_view>

#include "pods/images/trees/byte_stream.hpp"

namespace ocirun::test {

/// The bytes of a string as a stream.
class TextStream : public pods::ByteStream {
 public:
  explicit TextStream(std::string_view text) : rest_(text) {}
  Result<std::size_t> read(char* to, std::size_t size) override {
    const std::size_t count = rest_.copy(to, size);
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
};

}  // namespace ocirun::test
