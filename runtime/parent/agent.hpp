#pragma once

#include <chrono>

#include "bundle/documents/state.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/process/clone.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::runtime {

/// The pty's master of a Terminal message: sent to the console socket, if there is one, else
/// returned.
Result<UniqueFd> receive_terminal(const linux::Packet& packet, Fd console);

/// Takes the seccomp listener that a Listener message announces out of `child` and sends it with
/// the container process state to the profile's agent (S-5 … S-7). Errors: the agent is not there,
/// the listener did not appear.
Result<void> send_listener(const linux::Packet& packet, const linux::Child& child,
                           const linux::SeccompProfile& profile,
                           const bundle::StateDocument& state);

/// The error of a wait in which the profile's agent has left a call unanswered for `so_far`.
std::unexpected<Error> no_answer_of_agent(const linux::SeccompProfile& profile,
                                          std::chrono::seconds so_far);

}  // namespace ocirun::runtime
