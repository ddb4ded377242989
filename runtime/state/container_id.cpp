#include "runtime/state/container_id.hpp"

#include <algorithm>

#include "linux/base/letters.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::size_t kMaxLength = 255;  // NAME_MAX

bool is_allowed(char c) {
  return linux::is_alphanumeric(c) || c == '_' || c == '+' || c == '-' || c == '.';
}

}  // namespace

Result<ContainerId> ContainerId::parse(std::string_view text) {
  if (text.empty() || text.size() > kMaxLength || text.front() == '.' ||
      !std::ranges::all_of(text, is_allowed))
    return refuse(
        "invalid container id \"{}\": must be 1 to {} of the characters A-Z a-z 0-9 _ + - . and "
        "not begin with a dot",
        text.substr(0, kMaxLength), kMaxLength);
  return ContainerId(std::string(text));
}

}  // namespace ocirun::runtime
