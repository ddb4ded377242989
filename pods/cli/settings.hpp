#pragma once

#include "pods/cli/commands.hpp"
#include "pods/documents/workload.hpp"
#include "pods/run/settings.hpp"

namespace ocirun::pods::cli {

/// The options of `run` and `plan` that say what a document leaves open, and then a command's
/// `own`.
std::vector<Option> with_given_options(std::span<const Option> own);
/// The values of these options. Errors name the option and the form of its value.
Result<Given> read_given(const Arguments& arguments);

/// Reads a document that is to be run. Its warnings are printed. Errors: all problems of the
/// document, and its parts that only several machines can give.
Result<Workload> read_workload_to_run(const Arguments& arguments, const std::string& file);

/// The name of the pod: --name, else the document's, else the file's without its ending.
Result<std::string> name_for(const Arguments& arguments, const Workload& workload,
                             const std::string& file);

/// Whole seconds from 0 to a year.
Result<std::chrono::seconds> read_seconds(std::string_view option, std::string_view text);

}  // namespace ocirun::pods::cli
