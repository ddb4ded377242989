#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pods/documents/model/container.hpp"

namespace ocirun::pods {

/// A number of instances that the document asks for.
struct Replicas {
  std::uint32_t count = 1;  // the largest, if the document has several
  Place place = nullptr;
  Place differs = nullptr;  // asks for another number
};

/// What automatic scaling keeps a metric at: exactly one of the members.
struct ScalingTarget {
  std::optional<std::uint32_t> utilization;  // percent of the containers' requests
  std::optional<std::uint32_t> average;      // the metric's average over all instances
  std::optional<std::uint32_t> value;
};

/// A metric that automatic scaling watches (RX-14).
struct ScalingMetric {
  std::string kind;    // "cpu", "memory" or "custom"
  std::string custom;  // the name of a custom metric
  ScalingTarget target;
  Place place = nullptr;
};

/// Automatic scaling (RX-14).
struct Scaling {
  std::optional<std::uint32_t> most;  // instances
  std::vector<ScalingMetric> metrics;
  Place place = nullptr;
};

}  // namespace ocirun::pods
