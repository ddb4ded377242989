#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// A container's id: 1 to 255 of A-Z a-z 0-9 _ + - . and no dot at the beginning. It names a
/// directory of the state root and a cgroup, so an id that exists cannot lead anywhere else.
class ContainerId {
 public:
  /// Errors: EINVAL with what is allowed.
  static Result<ContainerId> parse(std::string_view text);
  const std::string& string() const { return text_; }

 private:
  explicit ContainerId(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace ocirun::runtime
