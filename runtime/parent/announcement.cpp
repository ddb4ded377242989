#include "runtime/parent/announcement.hpp"

#include <fcntl.h>

#include <cerrno>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/terminal.hpp"

namespace ocirun::runtime {

Result<void> Announcement::tell(const linux::Child& process, Rollback& undo) const {
  if (pid_file) {
    TRY(within(linux::replace_file(*pid_file, fmt::format("{}", process.pid), 0644), "--pid-file"));
    undo.add([this] { take_back(); });
  }
  if (pidfd_socket) {
    if (!process.pidfd) return fail(ENOSYS, "--pidfd-socket: open a pidfd (Linux 5.3)");
    TRY_ASSIGN(const UniqueFd socket, within(linux::connect_unix(*pidfd_socket), "--pidfd-socket"));
    TRY(linux::send_descriptor(socket, process.pidfd, "pidfd"));
  }
  return {};
}

void Announcement::take_back() const {
  if (pid_file) [[maybe_unused]]
    const auto ignored = linux::sys::unlinkat(Fd{AT_FDCWD}, pid_file->c_str(), 0);
}

}  // namespace ocirun::runtime
