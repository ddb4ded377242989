#include "linux/sealed/detached_copy.hpp"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::linux {

Result<void> copy_content(Fd from, Fd to, std::size_t size) {
  off_t offset = 0;
  while (std::cmp_less(offset, size)) {
    const ssize_t count =
        ::sendfile(to.value, from.value, &offset, size - static_cast<std::size_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(count == 0 ? EIO : errno, "copy the executable");
  }
  return {};
}

namespace {

constexpr char kName[] = "ocirun";
constexpr mode_t kMode = S_IRUSR | S_IXUSR | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH;

// Where copy_by_mount() mounts the tmpfs, in the mount namespace of a child: every host has this
// directory, and no file in it is needed after the copy has begun.
constexpr char kPlace[] = "/proc";

Result<void> write_copy(Fd directory, Fd executable) {
  OCIRUN_TRY_ASSIGN(const struct stat status, sys::fstat(executable));
  OCIRUN_TRY_ASSIGN(const UniqueFd copy,
                    sys::openat(directory, kName, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, kMode));
  OCIRUN_TRY(sys::fchmod(copy, kMode));  // whatever the umask is
  return copy_content(executable, copy, static_cast<std::size_t>(status.st_size));
}

/// Makes the copy by the mount API of Linux 5.2, which attaches the tmpfs to no mount namespace.
Result<UniqueFd> copy_by_mount_api(Fd executable) {
  OCIRUN_TRY_ASSIGN(const UniqueFd filesystem, within(sys::fsopen("tmpfs"), "make a tmpfs"));
  OCIRUN_TRY(
      within(sys::fsconfig(filesystem, FSCONFIG_CMD_CREATE, nullptr, nullptr), "make a tmpfs"));
  OCIRUN_TRY_ASSIGN(
      const UniqueFd mount,
      within(sys::fsmount(filesystem, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV), "make a tmpfs"));
  OCIRUN_TRY(write_copy(mount, executable));
  OCIRUN_TRY(
      within(sys::fsconfig(filesystem, FSCONFIG_SET_FLAG, "ro", nullptr), "make it read-only"));
  OCIRUN_TRY(within(sys::fsconfig(filesystem, FSCONFIG_CMD_RECONFIGURE, nullptr, nullptr),
                    "make it read-only"));
  return sys::openat(mount, kName, O_RDONLY | O_NOFOLLOW);
}

/// Makes the copy by mount(2), in a mount namespace that ends with the calling process. The end of
/// the namespace detaches the tmpfs.
Result<UniqueFd> copy_by_mount(Fd executable) {
  OCIRUN_TRY(within(sys::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr),
                    "make the mounts private"));
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV;
  OCIRUN_TRY(within(sys::mount("tmpfs", kPlace, "tmpfs", kFlags, nullptr), "mount a tmpfs"));
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, sys::open(kPlace, O_RDONLY | O_DIRECTORY));
  OCIRUN_TRY(write_copy(directory, executable));
  OCIRUN_TRY(within(sys::mount(nullptr, kPlace, nullptr, MS_REMOUNT | MS_RDONLY | kFlags, nullptr),
                    "make it read-only"));
  return sys::openat(directory, kName, O_RDONLY | O_NOFOLLOW);
}

Result<void> write_own(const char* path, const std::string& text) {
  OCIRUN_TRY_ASSIGN(const UniqueFd file, sys::open(path, O_WRONLY));
  return within(sys::write_once(file, text), path);
}

/// Enters namespaces in which the caller may mount. A new user namespace maps the caller's ids,
/// which own the files of the tmpfs.
Result<void> enter_own_namespaces() {
  if (::unshare(CLONE_NEWNS) == 0) return {};
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return fail(errno, "make a user namespace");
  ignore(write_own("/proc/self/setgroups", "deny"));  // the map's error tells more
  OCIRUN_TRY(write_own("/proc/self/uid_map", fmt::format("{0} {0} 1", user)));
  return write_own("/proc/self/gid_map", fmt::format("{0} {0} 1", group));
}

Result<UniqueFd> copy_in_own_namespaces(Fd executable) {
  OCIRUN_TRY(enter_own_namespaces());
  auto copy = copy_by_mount_api(executable);
  return copy ? std::move(copy) : copy_by_mount(executable);
}

enum class Answer : std::uint8_t { kCopy, kError };

[[noreturn]] void serve_copy(Fd executable, const MessageSocket& caller) {
  auto copy = copy_in_own_namespaces(executable);
  const Fd descriptor = copy ? Fd{copy->get()} : Fd{-1};
  ignore(copy ? caller.send(std::to_underlying(Answer::kCopy), {}, {&descriptor, 1})
              : caller.send(std::to_underlying(Answer::kError), error_lines(copy.error())));
  ::_exit(0);
}

Result<UniqueFd> copy_by_child(Fd executable) {
  OCIRUN_TRY_ASSIGN(auto sockets, MessageSocket::make_pair());
  const pid_t child = ::fork();
  if (child < 0) return fail(errno, "start a child");
  if (child == 0) serve_copy(executable, sockets.second);
  sockets.second.close();
  auto answer = sockets.first.receive();
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!answer) return std::unexpected(std::move(answer).error());
  if (answer->end_of_stream) return refuse("the child that makes the tmpfs was killed");
  if (answer->tag != std::to_underlying(Answer::kCopy) || answer->descriptors.empty())
    return std::unexpected(parse_error_lines(answer->payload, "make a tmpfs"));
  return std::move(answer->descriptors.front());
}

}  // namespace

Result<UniqueFd> copy_to_detached_tmpfs(Fd executable) {
  auto copy = copy_by_mount_api(executable);
  return copy ? std::move(copy) : copy_by_child(executable);
}

}  // namespace ocirun::linux
