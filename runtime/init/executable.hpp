#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// The value of NAME in "NAME=value" entries; nullptr when it is not set.
const char* find_variable(const std::vector<std::string>& environment, std::string_view name);

/// The environment with each name once. The order is that of the first entries, the value that of
/// the last one. HOME is `home` where no entry sets it (P-5).
std::vector<std::string> normalize_environment(const std::vector<std::string>& environment,
                                               const std::string& home);

/// The home directory of `uid` in /etc/passwd of the caller's root, which has to be the container's
/// root. Reads the file without NSS. Returns "/" if the file has no such user.
std::string find_home(std::uint32_t uid);

/// The path that execvp(3) would execute with the container's PATH (P-6) and the caller's present
/// ids. The caller's root and working directory have to be the container's. Errors, in the words
/// that engines map to the exit codes 127 and 126:
///   exec: "nosuch": executable file not found in $PATH
///   exec: "/no/such": stat /no/such: no such file or directory
///   exec: "/etc": it is a directory, not a program: permission denied
///   exec: "tool": /noexec/tool: it lies on a mount with the option noexec: permission denied
/// (the latter if PATH has no other file of that name). `place` is that of explain_exec(), which
/// says why permission is denied.
Result<std::string> find_executable(const std::string& name,
                                    const std::vector<std::string>& environment,
                                    std::string_view place);

struct PasswdEntry {
  std::string name, home;
};

/// The entries for `uid` in /etc/passwd of the caller's root, in the file's order. Reads the file
/// without NSS, whose modules would be loaded from the caller's root. Empty where the file cannot
/// be read or is larger than 1 MiB.
std::vector<PasswdEntry> find_in_passwd(std::uint32_t uid);

}  // namespace ocirun::runtime
