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
  UniqueFd notify_socket;  // where CreateRequest::notifies and the document do not do without
};

/// runtime.md#create: everything of config.json but process.args is applied; OP-2, LC-1 … LC-5. On
/// an error the host is as if it had never been asked (ERR-1), after poststop hooks if hooks had
/// begun (H-11). Errors: frames without the command and the id; EINTR
/// when a signal ended it (Signals::ended_by).
Result<CreatedContainer> create_container(const GlobalOptions& options, const Log& log,
                                          const CreateRequest& request);

}  // namespace ocirun::runtime
