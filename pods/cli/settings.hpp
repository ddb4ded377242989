#pragma once

#include "pods/cli/commands.hpp"
#include "pods/documents/workload.hpp"
#include "pods/run/settings.hpp"

namespace ocirun::pods::cli {

/// The options that complete a document, for `run` and `plan`, followed by the command's `own`
/// options.
std::vector<Option> with_given_options(std::span<const Option> own);
/// The values of these options. Errors name the option and the form of its value.
Result<Given> read_given(const Arguments& arguments);

/// Reads a document for `run` or `plan`, and prints its warnings. Errors: all problems of the
/// document; parts that need several machines.
Result<Workload> read_workload_to_run(const Arguments& arguments, const std::string& file);

/// The name of the pod: --name, else the name in the document, else the name of the file without
/// its ending.
Result<std::string> name_for(const Arguments& arguments, const Workload& workload,
                             const std::string& file);

/// Parses whole seconds, from 0 to a year.
Result<std::chrono::seconds> read_seconds(std::string_view option, std::string_view text);

}  // namespace ocirun::pods::cli
