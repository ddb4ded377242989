#pragma once

// A process in the records of pods.

#include <limits>
#include <string_view>

#include "bundle/json/fields.hpp"
#include "bundle/json/writer.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::pods {

inline constexpr auto kPid = bundle::range(0, std::numeric_limits<int>::max());

inline constexpr auto kProcess = bundle::exact_fields<linux::ProcessIdentity>(
    bundle::required("pid", &linux::ProcessIdentity::pid, kPid),
    bundle::required("startTime", &linux::ProcessIdentity::start_time, bundle::whole_number));

inline void write_process(bundle::JsonWriter& out, std::string_view key,
                          const linux::ProcessIdentity& process) {
  out.key(key).begin_object();
  out.member("pid", process.pid).member("startTime", process.start_time).end_object();
}

}  // namespace ocirun::pods
