#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// The resources that the machine, or the cgroup of the caller, can give to a pod.
struct Capacity {
  double cpus = 0;                              // logical CPUs
  std::uint64_t memory = 0;                     // bytes
  std::map<std::string, std::string> extended;  // --extended NAME=VALUE
};

/// A requirement that the machine does not meet.
struct Shortage {
  std::string sentence;  // names the required and the available amount
  Place place = nullptr;
};

/// The resources that a pod needs at the same time: the sum of its containers, but at least those
/// of its largest init container, because init containers run alone (RX-12).
Amounts needed(const Pod& pod);

/// Finds the requirements of a pod's containers that exceed `capacity` (OAM-12, OAM-30, OAM-31,
/// OAM-37, RX-10). No part of a pod with a shortage may be started.
std::vector<Shortage> find_shortages(const Pod& pod, const Capacity& capacity);

/// A number of bytes in messages: "64 MiB", "1.5 GiB", "100 bytes".
std::string bytes_text(std::uint64_t bytes);

}  // namespace ocirun::pods
