#pragma once

#include <map>
#include <string>
#include <vector>

#include "cgroups/systemd/property.hpp"

namespace ocirun::cgroups {

inline constexpr std::string_view kPropertyAnnotation = "org.systemd.property.";

struct AnnotatedProperties {
  std::vector<UnitProperty> properties;
  std::vector<std::string> left_out;  // sentences that begin with the annotation's pointer
};

/// The annotations `org.systemd.property.NAME` as unit properties. The value is the text of
/// a GVariant: true, 'text', "text", 12, 1.5, uint64 12, ['a', 'b'], @as []. A time `…Sec` becomes
/// `…USec`, the name that D-Bus knows. Annotations without this prefix and with an empty value are
/// ignored; one whose value is no GVariant is left out. Errors name the annotation: NAME is no
/// property's name, ocirun sets NAME itself, NAME acts on other units.
Result<AnnotatedProperties> annotated_properties(
    const std::map<std::string, std::string>& annotations);

}  // namespace ocirun::cgroups
