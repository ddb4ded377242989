#include "bundle/config/id_maps.hpp"

namespace ocirun::bundle {
namespace {

void write_mappings(JsonWriter& out, std::string_view name,
                    const std::vector<linux::IdMapping>& mappings) {
  out.key(name).begin_array();
  for (const linux::IdMapping& line : mappings)
    out.begin_object()
        .member("containerID", line.container_id)
        .member("hostID", line.host_id)
        .member("size", line.size)
        .end_object();
  out.end_array();
}

}  // namespace

void write_id_maps(JsonWriter& out, const linux::IdMap& map) {
  write_mappings(out, "uidMappings", map.uids);
  write_mappings(out, "gidMappings", map.gids);
}

}  // namespace ocirun::bundle
