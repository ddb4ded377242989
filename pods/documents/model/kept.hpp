#pragma once

// What readers keep of a document for an export.

#include <cstdint>

#include "bundle/json/value.hpp"
#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// Adds `more` to the metadata of the document. What was kept earlier is not replaced.
void keep_metadata(Metadata more, Metadata& out);

/// Keeps the number of replicas at `at`. More than 1 need several machines (RX-15).
void ask_for_replicas(bundle::Value at, std::uint32_t count, Pod& out);

}  // namespace ocirun::pods
