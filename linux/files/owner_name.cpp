#include "linux/files/owner_name.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::linux {
namespace {

constexpr std::uint64_t kAllIds = 0xFFFFFFFF;  // 0 to 2^32-2
constexpr std::uint32_t kDefaultShown = 65534;

Result<std::string> read_whole(const char* path) {
  constexpr std::size_t kMostBytes = 64 * 1024;
  OCIRUN_TRY_ASSIGN(const UniqueFd file, sys::open(path, O_RDONLY | O_CLOEXEC));
  return sys::read_all(file, kMostBytes);
}

/// The id that the kernel shows for users who are not mapped.
std::uint32_t shown_for_unmapped() {
  std::string text = read_whole("/proc/sys/kernel/overflowuid").value_or("");
  if (text.ends_with('\n')) text.pop_back();
  return number<std::uint32_t>(text).value_or(kDefaultShown);
}

}  // namespace

std::string owner_name(uid_t uid) {
  std::string name = fmt::format("user {}", uid);
  if (uid != shown_for_unmapped()) return name;
  std::uint64_t mapped = 0;
  bool maps_it = false;
  const auto map = read_whole("/proc/self/uid_map");
  if (!map) return name;
  for (const std::string_view line : split(*map, '\n')) {
    const auto fields = words(line);
    if (fields.size() != 3) continue;
    const auto first = number<std::uint32_t>(fields[0]);
    const auto size = number<std::uint32_t>(fields[2]);
    if (!first || !size) continue;
    mapped += *size;
    maps_it = maps_it || (uid >= *first && uid - *first < *size);
  }
  if (mapped == kAllIds) return name;
  return name + (maps_it ? ", or a user whom this user namespace does not map"
                         : ", which stands for each user whom this user namespace does not map");
}

}  // namespace ocirun::linux
