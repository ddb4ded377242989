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

/// Opens a pty in the devpts at /dev/pts below `root`: ptmx is opened O_PATH first and proven to be
/// inode 2 of a devpts, the peer comes from TIOCGPTPEER. The size is set, the slave
/// given to `owner`. Errors: no devpts there; an owner that the user namespace does not map.
Result<Terminal> open_terminal(const SafeDir& root, const Procfs& procfs,
                               std::optional<ConsoleSize> size, Uid owner);

/// Binds the pty's slave onto /dev/console below `root`, never through a symlink (runc
/// CVE-2025-52565).
Result<void> attach_console(const SafeDir& root, const Procfs& procfs, Fd slave);

/// Makes the slave the controlling terminal and fds 0, 1, 2 of the calling session leader.
Result<void> become_controlling_terminal(Fd slave);

/// Sends `fd` over a connected AF_UNIX socket as one SCM_RIGHTS descriptor with the first bytes of
/// `text`, which is not empty; what does not fit into the socket at once follows. Errors: EAGAIN
/// (nobody reads, and the socket has a limit), EPIPE.
Result<void> send_descriptor(Fd socket, Fd fd, std::string_view text);
/// Connects to the AF_UNIX stream socket at `path`, however long that is. Waits at most 10 s, and
/// so does whatever is sent over it.
Result<UniqueFd> connect_unix(const HostPath& path);

}  // namespace ocirun::linux
