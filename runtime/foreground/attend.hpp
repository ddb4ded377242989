#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"
#include "runtime/foreground/notifications.hpp"

namespace ocirun::runtime {

/// Before the program can look: gives the pty whose master we keep our own terminal's window size,
/// and clears ONLCR, since our terminal turns newlines into return and newline already.
void prepare_relay(Fd terminal);

/// Waits for the process of a foreground `run` or `exec`: forwards signals to it, copies between
/// `terminal` (a pty's master, or -1) and our stdin and stdout, follows window sizes, and puts our
/// terminal back as it was. What comes to `notifications`, if any, goes on meanwhile. Returns its
/// exit code, 128 + N after signal N. Wants Signals::capture().
Result<int> attend(const linux::Child& child, Fd terminal, Notifications* notifications = nullptr);

}  // namespace ocirun::runtime
