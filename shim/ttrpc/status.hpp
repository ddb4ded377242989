#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "linux/base/error.hpp"

namespace ocirun::shim::ttrpc {

/// The codes of gRPC that the shim answers with; 0 stands for success. containerd's clients compare
/// them.
enum class Code : std::int32_t {
  kUnknown = 2,
  kInvalidArgument = 3,
  kNotFound = 5,
  kAlreadyExists = 6,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kUnavailable = 14,
};

/// Why a call has failed.
struct Failure {
  Code code = Code::kUnknown;
  std::string message;
};

/// The answer to a call: the bytes of a message, or a failure.
using Answer = std::expected<std::string, Failure>;

template <typename... Args>
std::unexpected<Failure> answer_with(Code code, fmt::format_string<Args...> format,
                                     Args&&... args) {
  return std::unexpected(Failure{code, fmt::format(format, std::forward<Args>(args)...)});
}
inline std::unexpected<Failure> answer_with(const Error& error) {
  return std::unexpected(Failure{Code::kUnknown, error.message()});
}

}  // namespace ocirun::shim::ttrpc
