#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::shim {

/// The directory of the sockets of servers, where containerd names no other.
inline constexpr std::string_view kSocketDirectory = "/run/containerd/s";

/// The group that the container of a bundle belongs to: containers of one group have one server.
/// The value of the annotation io.kubernetes.cri.sandbox-id, or io.containerd.runc.v2.group, in
/// config.json; `id` if there is neither, or no config.json. Errors: config.json is larger than 16
/// MiB, no regular file, or no JSON; an annotation is no text.
Result<std::string> read_group(Fd bundle, const std::string& id);

/// The path of the socket of a group's server: in `directory`, the SHA-256 of
/// "ADDRESS/NAMESPACE/GROUP" as 64 hexadecimal digits. Errors: `directory` is not absolute; it is
/// so long that the kernel takes no socket in it (more than 42 bytes).
Result<std::string> socket_path(std::string_view directory, std::string_view address,
                                std::string_view container_namespace, std::string_view group);

}  // namespace ocirun::shim
