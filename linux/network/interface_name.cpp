#include <net/if.h>

#include "linux/network/netlink.hpp"

namespace ocirun::linux {
namespace {

// isspace() of the kernel, whose table is Latin-1: it includes the no-break space.
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\xa0'; }

}  // namespace

// dev_valid_name() of the kernel, and the rule of __dev_alloc_name() for templates.
bool is_valid_interface_name(std::string_view name) {
  if (name.empty() || name.size() >= IFNAMSIZ || name == "." || name == "..") return false;
  for (const char c : name)
    if (c == '/' || c == ':' || c == '\0' || is_space(c)) return false;
  const std::size_t percent = name.find('%');
  if (percent == std::string_view::npos) return true;
  return name.substr(percent, 2) == "%d" && name.find('%', percent + 1) == std::string_view::npos;
}

}  // namespace ocirun::linux
