#pragma once

#include "bundle/json/value.hpp"
#include "pods/model/pod.hpp"

namespace ocirun::pods {

// What a Radius document says about the number of instances. Each value is checked; what only
// several machines can give goes to Pod::elsewhere.

/// properties.autoScaling (RX-14)
bool auto_scaling(bundle::Value at, Pod& out);
/// properties.replicas (RX-15)
bool replicas(bundle::Value at, Pod& out);
/// properties.extensions, an object or a list: manualScaling (RX-15); kubernetesMetadata was
/// removed (RX-18).
bool extensions(bundle::Value at, Pod& out);

}  // namespace ocirun::pods
