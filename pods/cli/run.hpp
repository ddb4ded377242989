#pragma once

#include <optional>
#include <string>

#include "pods/cli/commands.hpp"

namespace ocirun::pods::cli {

/// Runs the pod of a document. `command` is the command in messages, and `arguments` are those of
/// `run`. `text`: the text of the document, which is not read from its file then. Returns the exit
/// status.
Result<int> run_document(const Command& command, const Arguments& arguments, const Caller& caller,
                         const std::optional<std::string>& text);

/// The request that `start` and `restart` repeat.
Result<RunRequest> request_of(const Arguments& arguments, const Caller& caller,
                              const Settings& settings, const Workload& workload);

}  // namespace ocirun::pods::cli
