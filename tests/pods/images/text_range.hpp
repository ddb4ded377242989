#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string_view>

#include "pods/images/trees/byte_stream.hpp"
#include "tests/must.hpp"

namespace ocirun::test {

/// The bytes of a string as a file in memory.
inline pods::FileRange range_of(std::string_view text) {
  UniqueFd file(::memfd_create("text", MFD_CLOEXEC));
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("write a file in memory");
  return pods::FileRange(std::move(file));
}

}  // namespace ocirun::test
