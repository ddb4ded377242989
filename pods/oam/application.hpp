#pragma once

#include <vector>

#include "bundle/json/value.hpp"
#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// Reads an OAM ContainerizedWorkload, core.oam.dev/v1alpha2 (matrix §5.1, OAM-1 … OAM-38), into
/// `out` and reports every problem; an unknown name is a problem.
void read_oam(bundle::Value at, Pod& out);

/// Reads what stands around the workload in a file of OAM, so that one document with a workload is
/// left in `documents`: takes the ApplicationConfiguration out, puts the values of its parameters
/// into the workload of the Component that it names, and refuses its traits, which are of a
/// cluster. `arena`: the document that the values belong to. Other files stay as they are.
void oam_application(std::vector<bundle::Value>& documents, bundle::Document& arena, Pod& out);

}  // namespace ocirun::pods
