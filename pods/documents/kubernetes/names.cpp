#include "pods/documents/kubernetes/names.hpp"

#include <algorithm>

#include "linux/base/letters.hpp"
#include "linux/base/text.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

/// 1 to 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends.
bool is_qualified_name(std::string_view text) {
  constexpr std::size_t kLongest = 63;
  return !text.empty() && text.size() <= kLongest && linux::is_alphanumeric(text.front()) &&
         linux::is_alphanumeric(text.back()) && std::ranges::all_of(text, [](char c) {
           return linux::is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

bool is_label_key(std::string_view text) {
  constexpr std::size_t kLongest = 253;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_qualified_name(text);
  const std::string_view domain = text.substr(0, slash);
  return domain.size() <= kLongest && is_qualified_name(text.substr(slash + 1)) &&
         std::ranges::all_of(linux::split(domain, '.'), is_dns_label);
}

bool is_label_value(std::string_view text) { return text.empty() || is_qualified_name(text); }

bool is_port_name(std::string_view text) {
  constexpr std::size_t kLongest = 15;
  return is_dns_label(text) && text.size() <= kLongest && !text.contains("--") &&
         std::ranges::any_of(text, linux::is_lower);
}

}  // namespace ocirun::pods
