#pragma once

#include <span>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"

namespace ocirun::linux {

/// The whole work of ocirun-criu (criu/launch/criu_program.hpp): asks CRIU at the other end of
/// `criu` for its version and for the features that the options want, sends the request, and passes
/// CRIU's stages on to `caller`. `words`: "dump", "pre-dump", "restore" or "check", then
/// NAME=VALUE. Returns the pid of the restored process, or 0. Errors: the caller has ended; CRIU
/// refused or ended.
Result<int> converse(std::span<const std::string_view> words, Fd criu, const MessageSocket& caller);

}  // namespace ocirun::linux
