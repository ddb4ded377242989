#pragma once

// What readers keep of a document for an export.

#include <cstdint>
#include <map>
#include <string>

#include "bundle/json/value.hpp"
#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// Keeps labels and annotations of the document. An annotation replaces a label of the same name;
/// metadata that were kept earlier are not replaced.
void keep_metadata(std::map<std::string, std::string>& labels,
                   std::map<std::string, std::string>& annotations, Pod& out);

/// Keeps the number of replicas at `at`. More than 1 need several machines (RX-15).
void ask_for_replicas(bundle::Value at, std::uint32_t count, Pod& out);

}  // namespace ocirun::pods
