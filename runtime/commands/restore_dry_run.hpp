#pragma once

#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/commands/restore.hpp"

namespace ocirun::runtime {

/// `restore --dry-run`: all reasons for which a restore would fail, as far as they can be seen
/// without making anything. What CRIU finds in the course of its work, such as a changed file, is
/// not among them. Error: the caller is not root of the host.
Result<std::vector<std::string>> why_not_restored(const GlobalOptions& options, const Log& log,
                                                  const RestoreRequest& request);

}  // namespace ocirun::runtime
