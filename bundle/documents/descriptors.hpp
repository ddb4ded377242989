#pragma once

#include <array>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::bundle {

/// What stdin, stdout and stderr of a container's init were when it was checkpointed: the texts of
/// the links in /proc/PID/fd, such as "pipe:[123]", or CRIU's name of a file outside of the
/// container. The file descriptors.json of a directory of images has them, as engines' tools
/// expect.
using StandardStreams = std::array<std::string, 3>;

std::string descriptors_text(const StandardStreams& streams);
/// Errors: `text` is no list of three strings.
Result<StandardStreams> parse_descriptors(std::string_view text);

}  // namespace ocirun::bundle
