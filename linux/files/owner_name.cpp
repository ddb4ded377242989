#include "linux/files/owner_name.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/id_mappings.hpp"

namespace ocirun::linux {
namespace {

constexpr std::uint64_t kAllIds = 0xFFFFFFFF;  // 0 to 2^32-2
constexpr std::uint32_t kDefaultShown = 65534;

/// The id that the kernel shows for users who are not mapped.
std::uint32_t shown_for_unmapped() {
  constexpr std::size_t kMostBytes = 64;
  const auto file = sys::open("/proc/sys/kernel/overflowuid", O_RDONLY | O_CLOEXEC);
  std::string text = file ? sys::read_all(*file, kMostBytes).value_or("") : "";
  if (text.ends_with('\n')) text.pop_back();
  return number<std::uint32_t>(text).value_or(kDefaultShown);
}

}  // namespace

std::string owner_name(uid_t uid) {
  std::string name = fmt::format("user {}", uid);
  if (uid != shown_for_unmapped()) return name;
  const auto map = read_id_map(Fd{AT_FDCWD}, "/proc/self/uid_map");
  if (!map) return name;
  std::uint64_t mapped = 0;
  bool maps_it = false;
  for (const IdMapping& line : *map) {
    mapped += line.size;
    maps_it = maps_it || (uid >= line.container_id && uid - line.container_id < line.size);
  }
  if (mapped == kAllIds) return name;
  return name + (maps_it ? ", or a user whom this user namespace does not map"
                         : ", which stands for each user whom this user namespace does not map");
}

}  // namespace ocirun::linux
