#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// A container's id: 1 to 255 of the characters A-Z a-z 0-9 _ + - . and no dot at the beginning. A
/// directory of the state root and a cgroup get the id as their name, so the characters exclude
/// every other path.
class ContainerId {
 public:
  /// Errors: EINVAL, with the allowed characters.
  static Result<ContainerId> parse(std::string_view text);
  const std::string& string() const { return text_; }

 private:
  explicit ContainerId(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace ocirun::runtime
