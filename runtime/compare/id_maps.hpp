#pragma once

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/id_map.hpp"

namespace ocirun::runtime {

/// Whether two maps map the same ids. The kernel sorts the lines of a map that has more than five.
bool is_same_map(const linux::IdMap& a, const linux::IdMap& b);

/// Compares the maps of the user namespace of process `init` with those of the document, if the
/// document asks for a new user namespace. Maps are written once, and do not change later. Errors:
/// a sentence that names the map; setgroups(2) is denied in the namespace.
Result<void> compare_id_maps(const bundle::Config& config, const linux::Procfs& procfs, int init);

}  // namespace ocirun::runtime
