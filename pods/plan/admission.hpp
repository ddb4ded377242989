#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// What the machine, or the cgroup of the caller, can give to a pod.
struct Capacity {
  double cpus = 0;           // logical CPUs
  std::uint64_t memory = 0;  // bytes
  double gpus = 0;
  std::map<std::string, std::string> extended;  // --extended NAME=VALUE
};

/// A requirement that the machine does not meet.
struct Shortage {
  std::string sentence;  // with what is needed and what there is
  Place place = nullptr;
};

/// What a pod needs at once: the sum of its containers, but at least what its largest init
/// container needs, because init containers run alone (RX-12).
Amounts needed(const Pod& pod);

/// Compares all that the containers of a pod require with `capacity` (OAM-12, OAM-30 … OAM-32,
/// OAM-37, RX-10). A pod with a shortage must not be started, not even in part.
std::vector<Shortage> find_shortages(const Pod& pod, const Capacity& capacity);

/// Bytes for people: "64 MiB", "1.5 GiB", "100 bytes".
std::string bytes_text(std::uint64_t bytes);

}  // namespace ocirun::pods
