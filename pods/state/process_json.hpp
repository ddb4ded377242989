#pragma once

// A process in the records of pods.

#include <limits>

#include "bundle/json/fields.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::pods {

inline constexpr auto kPid = bundle::range(0, std::numeric_limits<int>::max());

inline constexpr auto kProcess = bundle::exact_fields<linux::ProcessIdentity>(
    bundle::required("pid", &linux::ProcessIdentity::pid, kPid),
    bundle::required("startTime", &linux::ProcessIdentity::start_time, bundle::whole_number));

}  // namespace ocirun::pods
