#include "pods/documents/model/device_names.hpp"

#include <algorithm>

#include "linux/base/letters.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

using linux::is_alphanumeric;
using linux::is_digit;
using linux::is_letter;

constexpr std::size_t kMostOfVendor = 253;
constexpr std::size_t kMostOfClass = 63;
constexpr std::size_t kMostOfName = 253;

bool is_vendor_or_class(std::string_view text, std::size_t most) {
  return !text.empty() && text.size() <= most && is_letter(text.front()) &&
         is_alphanumeric(text.back()) && std::ranges::all_of(text, [](char c) {
           return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

/// Removes the digits at the beginning of `text`, and returns them without zeros in front.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

bool is_device_kind(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos &&
         is_vendor_or_class(text.substr(0, slash), kMostOfVendor) &&
         is_vendor_or_class(text.substr(slash + 1), kMostOfClass);
}

bool is_device_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostOfName && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) && std::ranges::all_of(text, [](char c) {
           return is_alphanumeric(c) || c == '-' || c == '_' || c == '.' || c == ':';
         });
}

std::string_view class_of_kind(std::string_view kind) { return kind.substr(kind.find('/') + 1); }

Result<NamedDevice> parse_device(std::string_view text) {
  std::string_view rest = text;
  NamedDevice device;
  // A kind has no ":", so that a ":" in front of "/" ends the name of a container.
  if (const std::size_t colon = rest.find(':'); colon < rest.find('/')) {
    device.container = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
    if (device.container.empty())
      return refuse("{}: the name of a container must precede \":\"", text);
  }
  device.kind = linux::cut(rest, '=');
  device.name = rest;
  if (is_device_kind(device.kind) && is_device_name(device.name)) return device;
  return refuse(
      "{}: must have the form [CONTAINER:]VENDOR/CLASS=NAME, such as vendor.com/gpu=0: the name of "
      "a device that a CDI specification has",
      text);
}

std::strong_ordering compare_device_names(std::string_view a, std::string_view b) {
  std::string_view rest_a = a, rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (is_digit(rest_a.front()) && is_digit(rest_b.front())) {
      const std::string_view number_a = take_digits(rest_a), number_b = take_digits(rest_b);
      const auto size = number_a.size() <=> number_b.size();
      if (size != 0) return size;
      if (const auto order = number_a <=> number_b; order != 0) return order;
    } else {
      if (const auto order = rest_a.front() <=> rest_b.front(); order != 0) return order;
      rest_a.remove_prefix(1);
      rest_b.remove_prefix(1);
    }
  }
  if (const auto order = rest_a.size() <=> rest_b.size(); order != 0) return order;
  return a <=> b;  // "01" and "1"
}

}  // namespace ocirun::pods
