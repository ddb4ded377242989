#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::linux {

/// process.consoleSize (P-3), in characters.
struct ConsoleSize {
  std::uint16_t height = 0;
  std::uint16_t width = 0;
};

/// A pseudo-terminal of the container's own devpts.
struct Terminal {
  UniqueFd master;
  UniqueFd slave;
};

/// Opens a pty in the devpts at /dev/pts below `root`. ptmx is opened O_PATH first and verified to
/// be inode 2 of a devpts; the slave is opened by TIOCGPTPEER. Then the size is set, and the slave
/// is given to `owner`. Errors: no devpts there; the user namespace does not map `owner`.
Result<Terminal> open_terminal(const SafeDir& root, const Procfs& procfs,
                               std::optional<ConsoleSize> size, Uid owner);

/// Binds the pty's slave onto /dev/console below `root`, never through a symlink (runc
/// CVE-2025-52565).
Result<void> attach_console(const SafeDir& root, const Procfs& procfs, Fd slave);

/// Makes the slave the controlling terminal and fds 0, 1, 2 of the calling session leader.
Result<void> become_controlling_terminal(Fd slave);

/// Sends `fd` over a connected AF_UNIX socket as one SCM_RIGHTS descriptor, together with the first
/// bytes of `text`, which must not be empty. The rest of `text` follows if it does not fit at once.
/// Errors: EAGAIN (the receiver does not read, and the socket has a timeout), EPIPE.
Result<void> send_descriptor(Fd socket, Fd fd, std::string_view text);
/// Connects to the AF_UNIX stream socket at `path`, which may be longer than sun_path. Connecting
/// takes at most 10 s, and so does each later send on the socket.
Result<UniqueFd> connect_unix(const HostPath& path);

}  // namespace ocirun::linux
