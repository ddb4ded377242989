#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "linux/base/error.hpp"

namespace ocirun::test {

/// The value of a result, or an exception that carries the error's message.
template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// The error's message of a result that must have failed.
template <typename T>
std::string must_fail(const Result<T>& result) {
  if (result) throw std::runtime_error("it succeeded, but an error was expected");
  return result.error().message();
}

}  // namespace ocirun::test
