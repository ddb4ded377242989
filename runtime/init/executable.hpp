#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// The value of NAME in "NAME=value" entries; nullptr when it is not set.
const char* find_variable(const std::vector<std::string>& environment, std::string_view name);

/// Each name once, the last entry winning, in the order of first appearance; HOME added from `home`
/// when unset (P-5).
std::vector<std::string> normalize_environment(const std::vector<std::string>& environment,
                                               const std::string& home);

/// The home directory of `uid` in the container's own /etc/passwd, read without NSS; "/" when it is
/// not told there. Call it inside the container's root.
std::string find_home(std::uint32_t uid);

/// What execvp(3) would execute, by the container's PATH (P-6), found with the caller's present
/// ids. Call it inside the container's root and working directory. Errors, in the words that
/// engines map to exit codes 127 and 126:
///   exec: "nosuch": executable file not found in $PATH
///   exec: "/no/such": stat /no/such: no such file or directory
///   exec: "/etc/passwd": permission denied
///   exec: "tool": /noexec/tool: permission denied, where PATH has nothing else of that name
Result<std::string> find_executable(const std::string& name,
                                    const std::vector<std::string>& environment);

}  // namespace ocirun::runtime
