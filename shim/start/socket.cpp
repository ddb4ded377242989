#include "shim/start/socket.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "linux/base/file_io.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/patience.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/unix_address.hpp"
#include "linux/files/directories.hpp"

namespace ocirun::shim {
namespace {

constexpr std::chrono::seconds kLockPatience{10};
constexpr int kBacklog = 128;  // connections that wait until the server accepts them

struct SocketPlace {
  UniqueFd directory;  // locked
  std::string name;
};

/// Refuses a directory that is not the caller's alone: another user could replace the socket in it.
Result<void> check_owner(Fd directory) {
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(directory));
  if (status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return refuse(
      "must belong to user {} and be writable by no other: remove it, and it is made anew",
      ::geteuid());
}

/// Locks the directory itself: a lock file would have to stay for ever. The kernel releases the
/// lock when the descriptor is closed.
Result<void> lock_directory(Fd directory) {
  linux::Patience patience(kLockPatience);
  while (::flock(directory.value, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return fail(errno, "lock it");
    if (!patience.wait())
      return refuse("another process has locked it for {} s", kLockPatience.count());
  }
  return {};
}

Result<SocketPlace> lock_place(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string above = path.substr(0, slash);
  auto locked = [&]() -> Result<UniqueFd> {
    OCIRUN_TRY_ASSIGN(UniqueFd directory, linux::open_or_make_directory(HostPath(above)));
    OCIRUN_TRY(check_owner(directory));
    OCIRUN_TRY(lock_directory(directory));
    return directory;
  }();
  if (!locked) return within(Result<SocketPlace>(std::unexpected(locked.error())), "{}", above);
  return SocketPlace{*std::move(locked), path.substr(slash + 1)};
}

Result<UniqueFd> make_socket() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(errno, "make a socket");
  return socket;
}

/// Whether the process that has called listen(2) last has ended. A child of the process may have
/// the socket open still: a child of a killed server does, until it executes its program.
bool has_ended(Fd connected) {
  ucred listener{};
  socklen_t size = sizeof listener;
  return ::getsockopt(connected.value, SOL_SOCKET, SO_PEERCRED, &listener, &size) == 0 &&
         listener.pid > 0 && ::kill(listener.pid, 0) != 0 && errno == ESRCH;
}

enum class Occupant { kNone, kDead, kAlive };
Result<Occupant> find_occupant(const sockaddr_un& address) {
  OCIRUN_TRY_ASSIGN(const UniqueFd socket, make_socket());
  if (::connect(socket.get(), linux::generic(address), sizeof address) == 0)
    return has_ended(socket) ? Occupant::kDead : Occupant::kAlive;
  switch (errno) {
    case EAGAIN:  // listens, and many wait already
      return Occupant::kAlive;
    case ENOENT:
      return Occupant::kNone;
    case ECONNREFUSED:  // nobody listens, or the file is no socket
      return Occupant::kDead;
    default:
      return fail(errno, "connect to {}", address.sun_path);
  }
}

Result<UniqueFd> listen_at(const sockaddr_un& address) {
  OCIRUN_TRY_ASSIGN(UniqueFd socket, make_socket());
  // bind(2) gives the file the mode of the socket.
  if (::fchmod(socket.get(), 0600) != 0 ||
      ::bind(socket.get(), linux::generic(address), sizeof address) != 0)
    return fail(errno, "make {}", address.sun_path);
  OCIRUN_TRY(within(listen_as_server(socket), "{}", address.sun_path));
  return socket;
}

}  // namespace

Result<void> listen_as_server(Fd socket) {
  if (::listen(socket.value, kBacklog) != 0) return fail(errno, "listen");
  return {};
}

Result<UniqueFd> listen_or_find(const std::string& path) {
  OCIRUN_TRY_ASSIGN(const sockaddr_un address, linux::unix_address(path));
  OCIRUN_TRY_ASSIGN(const SocketPlace place, lock_place(path));
  OCIRUN_TRY_ASSIGN(const Occupant occupant, find_occupant(address));
  if (occupant == Occupant::kAlive) return UniqueFd();
  if (occupant == Occupant::kDead)
    OCIRUN_TRY(linux::sys::unlinkat(place.directory, place.name.c_str(), 0));
  return listen_at(address);
}

Result<void> remove_dead_socket(const std::string& path) {
  OCIRUN_TRY_ASSIGN(const sockaddr_un address, linux::unix_address(path));
  OCIRUN_TRY_ASSIGN(const SocketPlace place, lock_place(path));
  OCIRUN_TRY_ASSIGN(const Occupant occupant, find_occupant(address));
  if (occupant == Occupant::kAlive) return {};
  if (occupant == Occupant::kDead)
    OCIRUN_TRY(linux::sys::unlinkat(place.directory, place.name.c_str(), 0));
  const std::string scratch = scratch_prefix(place.name);
  return linux::for_each_entry(place.directory,
                               [&](const char* name, unsigned char) -> Result<void> {
                                 if (!std::string_view(name).starts_with(scratch)) return {};
                                 return linux::sys::unlinkat(place.directory, name, 0);
                               });
}

// The path of a ConsoleSocket is this prefix and a number. It must fit into the address of a
// socket, so the prefix has only some digits of the name.
std::string scratch_prefix(const std::string& path) {
  constexpr std::size_t kFirstDigits = 16;
  return path.substr(0, path.rfind('/') + 1 + kFirstDigits) + ".";
}

}  // namespace ocirun::shim
