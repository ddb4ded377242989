#pragma once

#include <chrono>

#include "bundle/documents/state.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/process/clone.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::runtime {

/// Takes the pty's master out of a Terminal message, and does with it what deliver_terminal() does.
Result<UniqueFd> receive_terminal(const linux::Packet& packet, Fd console);

/// Sends the pty's master `terminal` to the console socket `console`, and returns no descriptor. If
/// `console` is -1, prepares the terminal for attend() and returns a copy of `terminal`.
Result<UniqueFd> deliver_terminal(Fd terminal, Fd console);

/// Fetches the seccomp listener that a Listener message announces from `child`. Errors: the
/// listener did not appear in `child`.
Result<UniqueFd> receive_listener(const linux::Packet& packet, const linux::Child& child);

/// Sends what receive_listener() fetches, with the container process state, to the profile's agent
/// (S-5 … S-7). Errors: nobody listens at listenerPath; those of receive_listener().
Result<void> send_listener(const linux::Packet& packet, const linux::Child& child,
                           const linux::SeccompProfile& profile,
                           const bundle::StateDocument& state);

/// The error for a wait of `so_far`, in which the agent has not answered a system call of `child`.
std::unexpected<Error> no_answer_of_agent(const linux::SeccompProfile& profile,
                                          std::chrono::seconds so_far);

}  // namespace ocirun::runtime
