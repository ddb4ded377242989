#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "shim/loop/children.hpp"

namespace ocirun::shim {

/// The container whose output a logging program gets.
struct LoggedContainer {
  std::string id, container_namespace;
};

/// A logging program.
struct Logger {
  int pid = 0;
  UniqueFd ready;           // becomes readable when the program is ready, or has ended
  bool says_ready = false;  // by a byte: a program that only closes the descriptor has failed
};

/// Whether the name is one of a logging program.
bool is_logger(std::string_view name);

/// Starts the logging program of a name "binary:///PROGRAM?NAME=VALUE&…", with the arguments NAME
/// and VALUE of each pair. The program gets the output of the container as descriptor 3, its error
/// output as descriptor 4, and descriptor 5, which it closes when it is ready; a program of the
/// scheme binary-v2 writes a byte to descriptor 5 before. Errors: those of spawn(); a name without
/// an absolute path.
Result<Logger> run_logger(const Children& children, const std::string& name,
                          const LoggedContainer& container, Fd out, Fd err);

/// Waits until the program is ready. Errors: it fails before, or is not ready in 10 s.
Async<Result<void>> become_ready(Loop& loop, Logger& logger);

/// The text with its codes, such as "%20", replaced.
std::string without_codes(std::string_view text);

}  // namespace ocirun::shim
