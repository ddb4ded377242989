#pragma once

#include "bundle/json/value.hpp"
#include "pods/documents/pod.hpp"

namespace ocirun::pods {

// The readers of the four documents. Each reads a whole document into `out` and reports every
// problem; an unknown name is a problem.

/// OAM ContainerizedWorkload, core.oam.dev/v1alpha2 (matrix §5.1, OAM-1 … OAM-38).
void read_oam(bundle::Value at, Pod& out);
/// App Container pod manifest (matrix §5.2, AC-1 … AC-23).
void read_appc(bundle::Value at, Pod& out);
/// Service, Configuration or Revision of serving.knative.dev/v1 (matrix §5.3).
void read_knative(bundle::Value at, Pod& out);
/// Container resource of Radius (matrix §5.4, RX-1 … RX-19).
void read_radius(bundle::Value at, Pod& out);

}  // namespace ocirun::pods
