#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

inline constexpr std::size_t kLongestPodName = 63;
/// Whether a pod, or a volume that ocirun keeps, may have the name, which is that of a directory: 1
/// to kLongestPodName letters, digits, "-", "_" and "." that begin and end with a letter or digit.
bool is_pod_name(std::string_view name);

/// The name of the first pod of a StatefulSet, the only one that a machine runs.
inline std::string first_pod_of(const std::string& set) { return set + "-0"; }

/// The value of the field `path` for a pod with the name `name`, if the field is this name or, in a
/// StatefulSet, the ordinal at its end (0 if it has none). Nothing for another field.
std::optional<std::string> field_of_name(std::string_view path, const Pod& pod,
                                         const std::string& name);

/// Another name of the pod `name` for the pods of its network: that of its StatefulSet, as the
/// Service of a set usually has it. "": none.
std::string network_alias(const Pod& pod, const std::string& name);

/// The claim that a cluster makes of the template `volume` for the first pod of the StatefulSet
/// `set`.
inline std::string claim_of_template(std::string_view volume, std::string_view set) {
  return fmt::format("{}-{}-0", volume, set);
}

/// Puts `name` into what the name of the pod is a part of: variables, and volumes of templates.
void rename_pod_in_parts(const std::string& name, Pod& pod);

}  // namespace ocirun::pods
