#pragma once

// Readers of numbers and quantities.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include "pods/documents/model/rows.hpp"

namespace ocirun::pods {

enum class Wanted : std::uint8_t { kNumber, kNumberOrText };
/// Whether YAML 1.1, as kubectl reads it, and YAML 1.2 give a scalar without quotes the same value.
/// If not, reports both values, and what to write: a number, or with kNumberOrText also a text in
/// quotes.
bool has_one_reading(Value at, Wanted wanted = Wanted::kNumber);

/// The whole number that a value with a point or an exponent is, such as 1e3 or 80.0, as JSON and
/// kubectl read it; nothing for another value.
std::optional<std::int64_t> whole_value(const bundle::Node& node);

/// Reads a whole number from `least` to `most`, both included, and in the range of T. Refuses one
/// that YAML 1.1 reads differently from YAML 1.2, such as 010.
struct WholeNumber {
  std::int64_t least;
  std::uint64_t most;
  template <std::integral T>
  bool operator()(Value at, T& out) const {
    if (!has_one_reading(at)) return false;
    const auto whole = whole_value(at.node());
    if (!whole || !std::in_range<T>(*whole) || *whole < least ||
        (*whole > 0 && static_cast<std::uint64_t>(*whole) > most))
      return bundle::range(least, most)(at, out);
    out = static_cast<T>(*whole);
    return true;
  }
};
constexpr WholeNumber whole_number(std::int64_t least, std::uint64_t most) { return {least, most}; }

/// A user or group id: 0 to 2^32-2.
bool user_id(Value at, Uid& out);
bool group_id(Value at, Gid& out);

/// A number of at least `least`, with or without a fraction.
bool number_from(Value at, double least, double& out);
/// A count of CPUs: more than 0.
bool cpu_count(Value at, double& out);

/// Whole seconds, at least `least`.
constexpr auto seconds_from(std::int64_t least) {
  return [least](Value at, std::chrono::seconds& out) {
    std::int32_t count = 0;
    if (!whole_number(least, 2'147'483'647)(at, count)) return false;
    out = std::chrono::seconds(count);
    return true;
  };
}

/// A port number, 1 to 65535.
inline constexpr auto port_number = whole_number(1, 65535);

/// A whole number with an optional unit of OAM: K, M, G, T or P, each with or without B, in upper
/// or lower case; without unit bytes. A unit is a power of 1024. Zero is a problem (OAM-31).
bool oam_size(Value at, std::uint64_t& out);

/// A quantity of Kubernetes: "500m", "1.5", "128Mi", "1G", "1e8", also a plain number. Bytes are
/// rounded up.
bool kubernetes_cpus(Value at, double& out);
bool kubernetes_bytes(Value at, std::uint64_t& out);
/// A quantity that is a whole number from 0 on; nothing for another value.
std::optional<std::uint64_t> whole_quantity(const bundle::Node& node);

}  // namespace ocirun::pods
