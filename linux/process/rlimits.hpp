#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// process.rlimits[] (P-8). RLIM_INFINITY is 2^64-1.
struct Rlimit {
  int resource = 0;  // RLIMIT_*
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

/// The number for "RLIMIT_NOFILE" and the other 15 names.
std::optional<int> rlimit_resource(std::string_view name);
std::string_view rlimit_name(int resource);
/// A limit for messages: a number, or "unlimited".
std::string rlimit_text(std::uint64_t limit);
std::vector<std::string_view> rlimit_names();

/// prlimit(2) on `pid` (0: the caller). Errors name the limit and the values that are allowed.
Result<void> set_rlimit(int pid, const Rlimit& limit);
/// Sets all of `process.rlimits`. An error begins with the JSON pointer of the refused limit.
Result<void> set_rlimits(int pid, const std::vector<Rlimit>& limits);

}  // namespace ocirun::linux
