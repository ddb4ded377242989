#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// Whether a text is the kind of a CDI device: VENDOR/CLASS, such as "vendor.com/gpu". A vendor has
/// at most 253 and a class at most 63 letters, digits, "-", "_" and "."; each begins with a letter
/// and ends with a letter or digit.
bool is_device_kind(std::string_view text);
/// Whether a text is the name of a CDI device: letters, digits, "-", "_", "." and ":"; begins and
/// ends with a letter or digit; at most 253.
bool is_device_name(std::string_view text);
/// The class of a kind: "gpu" of "vendor.com/gpu".
std::string_view class_of_kind(std::string_view kind);

/// A device of --device.
struct NamedDevice {
  std::string container;  // "": all containers of the pod
  std::string kind;       // "vendor.com/gpu"
  std::string name;       // "0"
};

/// Parses "[CONTAINER:]VENDOR/CLASS=NAME". Errors: another form.
Result<NamedDevice> parse_device(std::string_view text);

/// The order of names in which devices are given out: runs of digits compare as numbers, so that
/// "10" comes after "2".
std::strong_ordering compare_device_names(std::string_view a, std::string_view b);

}  // namespace ocirun::pods
