#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/process/landlock.hpp"

namespace ocirun::bundle {

inline constexpr std::string_view kLandlockPrefix = "org.ocirun.landlock.";

/// The rules of the annotations org.ocirun.landlock.read, .write (paths, separated by colons),
/// .connect, .bind (TCP ports, separated by commas) and .scope ("signals", "sockets"). Nothing
/// without such an annotation. Errors: a path below one of .write; they begin with
/// "/annotations/org.ocirun.landlock.".
Result<std::optional<linux::LandlockRules>> landlock_rules(
    const std::map<std::string, std::string>& annotations);

}  // namespace ocirun::bundle
