#pragma once

#include "pods/cli/commands.hpp"

namespace ocirun::pods::cli {

/// Runs a command that needs the rights of root for an ordinary user: as root of a user namespace.
/// The pods of a network (--network) are in one user namespace, because only then one process may
/// connect them to each other.
Result<int> run_as_root_of_namespace(const Command& command, const Arguments& arguments,
                                     const Caller& caller);

}  // namespace ocirun::pods::cli
