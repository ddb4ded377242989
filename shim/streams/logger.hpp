#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "shim/streams/streams.hpp"

namespace ocirun::shim {

inline constexpr std::string_view kLoggerScheme = "binary://";

struct Logger {
  int pid = 0;
  UniqueFd is_ready;  // becomes readable when the program is ready
};

/// Starts the logging program of a name "binary:///PROGRAM?NAME=VALUE&…", with the arguments NAME
/// and VALUE of each pair. The program gets the output of the container as descriptor 3, its error
/// output as descriptor 4, and descriptor 5, which it closes when it is ready. Errors: those of
/// spawn(); a name without an absolute path.
Result<Logger> run_logger(const std::string& name, const LoggedContainer& container, Fd out,
                          Fd err);

/// The text with its codes, such as "%20", replaced.
std::string without_codes(std::string_view text);

}  // namespace ocirun::shim
