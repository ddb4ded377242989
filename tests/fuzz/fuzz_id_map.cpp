// Any text as a uid_map. In a map that passes the check, the first and the last id of each line
// must be mapped by that line, and the id after the line may not share a host id with another id.
#include "linux/namespaces/id_map.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  linux::IdMap map;
  map.uids = linux::parse_id_map(fuzz::text_of(data, size));
  if (!linux::check_id_mappings(map.uids)) return 0;
  for (const linux::IdMapping& line : map.uids) {
    for (const std::uint32_t offset : {std::uint32_t{0}, line.size - 1}) {
      const auto uid = Uid::make(line.container_id + offset);
      fuzz::require(uid && map.host_uid(*uid) == line.host_id + offset);
    }
    const auto after = Uid::make(std::uint64_t{line.container_id} + line.size);
    if (!after) continue;
    const auto host = map.host_uid(*after);
    for (const linux::IdMapping& other : map.uids)
      if (host && *host >= other.host_id && *host - other.host_id < other.size)
        fuzz::require(other.container_id + (*host - other.host_id) == after->value());
  }
  return 0;
}
