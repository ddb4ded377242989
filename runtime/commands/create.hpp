#pragma once

#include "bundle/documents/state.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/parent/create_request.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// A container whose state is `created`.
struct CreatedContainer {
  StateDirectory directory;  // locked
  bundle::ContainerRecord record;
  linux::Child init;
  UniqueFd terminal;       // the master, for TerminalKeeper::kCaller
  UniqueFd notify_socket;  // if CreateRequest::notifies and wants_notify_socket(); else empty
};

/// runtime.md#create (OP-2, LC-1 … LC-5): applies everything of config.json but process.args. On an
/// error, everything that was made for the container is removed: processes, cgroups, mounts and the
/// state directory (ERR-1). Mount points that were missing in the root file system stay there. If
/// hooks had run, the poststop hooks run then (H-11). Errors: frames without the command and the
/// id; EINTR if a signal ended the command (Signals::ended_by).
Result<CreatedContainer> create_container(const GlobalOptions& options, const Log& log,
                                          const CreateRequest& request);

}  // namespace ocirun::runtime
