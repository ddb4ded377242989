#include "linux/files/id_mappings.hpp"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux {
namespace {

std::optional<std::uint32_t> next_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::vector<IdMapping> parse_id_map(std::string_view text) {
  std::vector<IdMapping> map;
  while (const auto container_id = next_number(text)) {
    const auto host_id = next_number(text), size = next_number(text);
    if (!host_id || !size) break;
    map.push_back({*container_id, *host_id, *size});
  }
  return map;
}

Result<std::vector<IdMapping>> read_id_map(Fd at, const std::string& path) {
  constexpr std::size_t kMostBytes = 64 * 1024;  // kMaxIdMappings lines of 33 bytes, with room
  OCIRUN_TRY_ASSIGN(const UniqueFd file, sys::openat(at, path.c_str(), O_RDONLY | O_CLOEXEC));
  OCIRUN_TRY_ASSIGN(const std::string text, within(sys::read_all(file, kMostBytes), path));
  return parse_id_map(text);
}

}  // namespace ocirun::linux
