#include "linux/mounts/terminal.hpp"

#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

#include "linux/base/syscalls.hpp"
#include "linux/base/unix_address.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/place.hpp"

namespace ocirun::linux {
namespace {

constexpr std::uint64_t kPtmxInode = 2;  // the same in each devpts instance
constexpr std::chrono::seconds kPeerPatience{10};

Result<void> verify_devpts(Fd fd, const char* what) {
  OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo filesystem, sys::fstatfs(fd));
  if (filesystem.magic != DEVPTS_SUPER_MAGIC) return refuse("{} is not on a devpts", what);
  return {};
}

/// Opens ptmx with O_PATH and verifies it. Opening ptmx for real would allocate a terminal before
/// the node is verified (runc CVE-2025-52565).
Result<UniqueFd> open_verified_ptmx(const SafeDir& root) {
  const RootfsPath path = dev_path("pts/ptmx");
  OCIRUN_TRY_ASSIGN(UniqueFd ptmx, root.open(path, O_PATH | O_NOFOLLOW));
  OCIRUN_TRY(verify_devpts(ptmx, path.string().c_str()));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(ptmx));
  if (!S_ISCHR(info.st_mode) || info.st_rdev != makedev(5, 2) || info.st_ino != kPtmxInode)
    return refuse("{} is not the ptmx of a devpts", path.string());
  return ptmx;
}

/// Opens the slave through the master (Linux 4.13), so that no path of the container is involved.
Result<UniqueFd> open_peer(Fd master) {
  const int unlock = 0;
  if (::ioctl(master.value, TIOCSPTLCK, &unlock) < 0) return sys::last_error("unlock the pty");
  const int fd = ::ioctl(master.value, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return sys::last_error("open the pty's other end");
  UniqueFd slave(fd);
  OCIRUN_TRY(verify_devpts(slave, "the pty"));
  return slave;
}

Result<void> set_size(Fd terminal, ConsoleSize size) {
  winsize wanted{};
  wanted.ws_row = size.height;
  wanted.ws_col = size.width;
  if (::ioctl(terminal.value, TIOCSWINSZ, &wanted) < 0) return sys::last_error("set consoleSize");
  return {};
}

Result<void> give_to(Fd slave, Uid owner) {
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(slave));
  if (info.st_uid == owner.value()) return {};
  return within(sys::fchown(slave, owner.value(), info.st_gid), "give the terminal to user {}",
                owner.value());
}

Result<Terminal> open_pty(const SafeDir& root, const Procfs& procfs,
                          std::optional<ConsoleSize> size, Uid owner) {
  OCIRUN_TRY_ASSIGN(const UniqueFd ptmx, open_verified_ptmx(root));
  Terminal terminal;
  OCIRUN_TRY_ASSIGN(terminal.master, procfs.reopen(ptmx, O_RDWR | O_NOCTTY));
  OCIRUN_TRY_ASSIGN(terminal.slave, open_peer(terminal.master));
  if (size) OCIRUN_TRY(set_size(terminal.slave, *size));
  OCIRUN_TRY(give_to(terminal.slave, owner));
  return terminal;
}

/// Makes the file at `path` on which the terminal will be bind-mounted. Opens the file if it
/// exists.
Result<UniqueFd> open_console_file(const SafeDir& root, const RootfsPath& path) {
  OCIRUN_TRY_ASSIGN(const SafeDir::Entry where, root.entry(path));
  auto made =
      sys::openat(where.parent, where.name.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (made || made.error().number() != EEXIST) return made;
  OCIRUN_TRY_ASSIGN(UniqueFd found,
                    sys::openat(where.parent, where.name.c_str(), O_PATH | O_NOFOLLOW));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(found));
  if (S_ISLNK(info.st_mode) || S_ISDIR(info.st_mode))
    return refuse("it is a symlink or a directory");
  return found;
}

}  // namespace

Result<Terminal> open_terminal(const SafeDir& root, const Procfs& procfs,
                               std::optional<ConsoleSize> size, Uid owner) {
  return within(open_pty(root, procfs, size, owner), "open a terminal in the container");
}

Result<void> attach_console(const SafeDir& root, const Procfs& procfs, Fd slave) {
  const RootfsPath path = dev_path("console");
  auto file = open_console_file(root, path);
  if (!file) return std::unexpected(std::move(file.error().within(path.string())));
  const MountPoint point{root, procfs, path, *std::move(file), false};
  // The descriptor lies on the container's own devpts, so the bind clones the terminal itself.
  OCIRUN_TRY(
      within(place_bind(point, slave, Placement()), "bind the terminal on " + path.string()));
  return {};
}

Result<void> become_controlling_terminal(Fd slave) {
  if (::ioctl(slave.value, TIOCSCTTY, 0) < 0)
    return sys::last_error("take the controlling terminal");
  for (int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::dup2(slave.value, standard) < 0) return sys::last_error("make the terminal fds 0, 1, 2");
  return {};
}

Result<void> send_descriptor(Fd socket, Fd fd, std::string_view text) {
  if (text.empty()) return fail(EINVAL, "send a descriptor: it needs a byte to go with");
  std::string payload(text);
  iovec data{payload.data(), payload.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd.value, sizeof fd.value);
  ssize_t sent;
  do {
    sent = ::sendmsg(socket.value, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return sys::last_error("send a descriptor");
  // The descriptor was sent together with the first bytes.
  for (std::string_view left = text.substr(static_cast<std::size_t>(sent)); !left.empty();) {
    sent = ::send(socket.value, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return sys::last_error("send what belongs to a descriptor");
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<UniqueFd> connect_unix(const HostPath& path) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return sys::last_error("open a socket");
  // The time limit for connect(2) while the backlog is full, and for later sends.
  const timeval limit{kPeerPatience.count(), 0};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0)
    return sys::last_error("set the socket's time limit");
  auto address = unix_address(path.string());
  UniqueFd node;  // open until connected: the address names it instead of a path that is too long
  if (!address) {
    OCIRUN_TRY_ASSIGN(node, sys::open(path.c_str(), O_PATH));
    address = unix_address(host_fd_link(node));
  }
  if (!address) return std::unexpected(std::move(address).error());
  int done;
  do {
    done = ::connect(socket.get(), generic(*address), sizeof *address);
  } while (done < 0 && errno == EINTR);
  if (done < 0 && errno == EAGAIN)
    return refuse("connect to {}: whoever listens there has not accepted for {} s", path.string(),
                  kPeerPatience.count());
  if (done < 0) return fail(errno, "connect to {}", path.string());
  return socket;
}

}  // namespace ocirun::linux
