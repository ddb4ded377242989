#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "linux/base/error.hpp"

namespace ocirun::test {

/// Returns the value of a result. Throws the error's message if there is none.
template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// Returns the error's message of a result. Throws if the result is a success.
template <typename T>
std::string must_fail(const Result<T>& result) {
  if (result) throw std::runtime_error("the call succeeded, but an error was expected");
  return result.error().message();
}

}  // namespace ocirun::test
