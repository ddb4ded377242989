#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"

namespace ocirun::linux {

/// A child process that calls a function.
struct ChildCall {
  Child child;
  UniqueFd report;  // a pipe for the error of the function; readable at the error or the end
};

/// The open files of a child: those of its parent, or the standard streams alone.
enum class ChildFiles : std::uint8_t { kOfParent, kStandardStreams };

/// Starts a child process that calls `act`. The caller must have a single thread, and must call
/// outcome_of().
Result<ChildCall> start_in_child(const std::function<Result<void>()>& act,
                                 ChildFiles files = ChildFiles::kOfParent);
/// Waits for the end of the child. `doing` names the act in messages ("work on the pod"). Errors:
/// those of the function; the child was killed.
Result<void> outcome_of(const ChildCall& call, std::string_view doing);
/// Like the other outcome_of(), for a child that the caller has waited for: `status` is that of
/// waitpid(2). The error of the function must fit into a pipe (64 KiB): the child would otherwise
/// wait for a reader, and not end.
Result<void> outcome_of(const ChildCall& call, int status, std::string_view doing);

/// Calls `act` in a child process, and waits for the end of the child. For an act that changes the
/// process, such as its namespaces. Errors: those of start_in_child() and outcome_of().
Result<void> call_in_child(const std::function<Result<void>()>& act, std::string_view doing);

}  // namespace ocirun::linux
