#pragma once

#include <string>
#include <vector>

#include "criu/dump/directory.hpp"
#include "criu/request/options.hpp"
#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/commands/create.hpp"
#include "runtime/parent/create_request.hpp"

namespace ocirun::runtime {

struct RestoreRequest {
  CreateRequest create;
  CriuSettings settings;
  TrustImages trust = TrustImages::kNo;
};

/// Restores a container from images: makes what `create` makes around a container, has CRIU restore
/// the processes into it, and compares them with config.json before they run (compare.hpp). The
/// poststart hooks have run when this returns. A stopped container of the same id is deleted first.
/// On an error, everything that was made is removed, as by create_container().
Result<CreatedContainer> restore_container(const GlobalOptions& options, const Log& log,
                                           const RestoreRequest& request);

/// `restore --dry-run`: all reasons for which a restore would fail, as far as they can be seen
/// without making anything. What CRIU finds in the course of its work, such as a changed file, is
/// not among them. Error: the caller is not root of the host.
Result<std::vector<std::string>> why_not_restored(const GlobalOptions& options, const Log& log,
                                                  const RestoreRequest& request);

}  // namespace ocirun::runtime
