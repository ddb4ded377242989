#pragma once

#include <map>
#include <string>
#include <vector>

#include "cgroups/systemd/property.hpp"

namespace ocirun::cgroups {

inline constexpr std::string_view kPropertyAnnotation = "org.systemd.property.";

/// The annotations `org.systemd.property.NAME` as properties. The value is a GVariant's
/// text: true, 'text', "text", 12, 1.5, uint64 12, ['a', 'b'], @as []. A time in `…Sec` becomes
/// `…USec`, which is what D-Bus knows. Others are passed over. Errors name the annotation: a name
/// that is none, one that ocirun sets itself, a value that is none.
Result<std::vector<UnitProperty>> annotated_properties(
    const std::map<std::string, std::string>& annotations);

}  // namespace ocirun::cgroups
