#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "linux/process/clone.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::pods {

/// The path of a program of this machine: in PATH, or where programs for root are; "" if it is not
/// installed.
std::string find_program(std::string_view name);

/// The standard streams of a program; -1: /dev/null.
struct Streams {
  Fd out, err;
};

/// Starts a program with stdin from /dev/null, in a session of its own, so that the signals of the
/// caller's terminal reach only the caller. `arguments`: the path of the program first. Errors:
/// fork fails; a program that cannot be executed ends with status 127 and a line on its stderr.
Result<linux::Child> start_program(std::span<const std::string> arguments, const Streams& streams);

/// Starts a program that outlives its caller: `record` is called with its identity before it is
/// executed, so that it can be found whenever the caller is killed. Errors: those of
/// start_program(); the error of `record`, and then the program has not been executed.
Result<linux::Child> start_recorded_program(
    std::span<const std::string> arguments, const Streams& streams,
    const std::function<Result<void>(const linux::ProcessIdentity&)>& record);

/// How long a program of run_program() or end_of() may take.
inline constexpr std::chrono::seconds kProgramPatience{60};

/// Waits for the end of a program; returns the status of waitpid(2). Errors: it takes longer than
/// kProgramPatience: then it has been killed.
Result<int> end_of(linux::Child& child);

/// Runs a program to its end. Errors: those of end_of(); "exited with status 1: " and what the
/// program has written to stderr, without the line break at its end.
Result<void> run_program(std::span<const std::string> arguments);

}  // namespace ocirun::pods
