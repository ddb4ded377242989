#pragma once

#include <vector>

#include "bundle/json/value.hpp"
#include "pods/documents/pod.hpp"

namespace ocirun::pods {

/// Reads what stands around the workload in a file of OAM, so that one document with a workload is
/// left in `documents`: takes the ApplicationConfiguration out, puts the values of its parameters
/// into the workload of the Component that it names, and refuses its traits, which are of a
/// cluster. `arena`: the document that the values belong to. Other files stay as they are.
void oam_application(std::vector<bundle::Value>& documents, bundle::Document& arena, Pod& out);

}  // namespace ocirun::pods
