#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"
#include "runtime/foreground/notifications.hpp"

namespace ocirun::runtime {

/// Prepares a pty for attend(); `terminal` is its master. Called before the program runs. Copies
/// the window size of the caller's terminal, and clears ONLCR: the caller's terminal turns a
/// newline into return and newline already.
void prepare_relay(Fd terminal);

/// Waits for the process of a foreground `run` or `exec` and returns its exit status; 128 + N if
/// signal N ended it. Meanwhile signals are forwarded to the process, bytes are copied between
/// `terminal` (a pty's master, or -1) and the caller's stdin and stdout, changes of the window size
/// reach the pty, and `notifications`, if not null, reach the service manager. At the end the
/// caller's terminal has its settings back. Signals::capture() must have been called.
Result<int> attend(const linux::Child& child, Fd terminal, Notifications* notifications = nullptr);

}  // namespace ocirun::runtime
