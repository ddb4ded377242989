#pragma once

#include "bundle/json/writer.hpp"
#include "linux/namespaces/id_map.hpp"

namespace ocirun::bundle {

/// Writes the members uidMappings and gidMappings of the object /linux of a config.json.
void write_id_maps(JsonWriter& out, const linux::IdMap& map);

}  // namespace ocirun::bundle
