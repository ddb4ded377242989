#pragma once

// A tree that looks like a mounted resctrl, and a supervisor that makes it behave like one: what a
// process under it makes with mkdir gets the files that the kernel would put there, and rmdir
// removes a group with its files. The supervisor is a seccomp listener; no function is replaced.

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "linux/base/file_io.hpp"
#include "linux/seccomp/filter.hpp"
#include "tests/child_test.hpp"

namespace ocirun::test {

class ResctrlTree {
 public:
  ResctrlTree() {
    std::string name = "/tmp/ocirun-resctrl-XXXXXX";
    detail::check(::mkdtemp(name.data()) != nullptr, "mkdtemp");
    root_ = name;
    populate(root_);
    std::filesystem::create_directory(root_ / "info");
    write("info/last_cmd_status", "ok\n");
  }
  ResctrlTree(const ResctrlTree&) = delete;
  ResctrlTree& operator=(const ResctrlTree&) = delete;
  ~ResctrlTree() { std::filesystem::remove_all(root_); }

  std::string root() const { return root_.string(); }
  bool has(const std::string& path) const { return std::filesystem::exists(root_ / path); }
  std::string read(const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream(root_ / path).rdbuf();
    return text.str();
  }
  void write(const std::string& path, const std::string& text) const {
    std::ofstream(root_ / path) << text;
  }
  void make_group(const std::string& path) const {
    std::filesystem::create_directory(root_ / path);
    populate(root_ / path);
  }

  /// What the kernel puts into a new group; a monitoring group has no schemata.
  static void populate(const std::filesystem::path& group) {
    std::ofstream(group / "tasks");
    if (group.parent_path().filename() == "mon_groups") return;
    std::ofstream(group / "schemata");
    std::filesystem::create_directory(group / "mon_groups");
  }

 private:
  std::filesystem::path root_;
};

namespace detail {

inline std::filesystem::path requested_path(pid_t pid, const seccomp_data& data) {
  char name[256] = "";
  const std::string memory = "/proc/" + std::to_string(pid) + "/mem";
  const int fd = ::open(memory.c_str(), O_RDONLY | O_CLOEXEC);
  ignore(::pread(fd, name, sizeof name - 1, static_cast<off_t>(data.args[1])));
  ::close(fd);
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/fd/" +
                                       std::to_string(static_cast<int>(data.args[0]))) /
         name;
}

inline int answer(const std::filesystem::path& path, int syscall,
                  const std::function<int(const std::filesystem::path&)>& refuse) {
  if (syscall == SYS_unlinkat) return std::filesystem::remove_all(path) == 0 ? -ENOENT : 0;
  if (const int error = refuse ? refuse(path) : 0; error != 0) return -error;
  if (::mkdir(path.c_str(), 0755) != 0) return -errno;
  ResctrlTree::populate(path);
  return 0;
}

}  // namespace detail

/// Runs `body` in a child whose mkdirat and unlinkat a supervisor answers as resctrl would; 0 when
/// all went well. `refuse` (an errno for a path to be made, or 0) lets a test use up the hardware's
/// groups.
inline int run_under_resctrl(const std::function<void()>& body,
                             const std::function<int(const std::filesystem::path&)>& refuse = {}) {
  linux::SeccompProfile profile;
  profile.rules.emplace_back();
  profile.rules[0].action = linux::SeccompAction::kNotify;
  profile.rules[0].names = {"mkdirat", "unlinkat"};
  std::vector<std::string> warnings;
  const linux::SeccompFilter filter = must(linux::compile_seccomp(profile, warnings));
  return run_in_child(0, [&] {
    linux::Pipe channel = must(linux::make_pipe());
    const pid_t pid = ::fork();
    if (pid == 0) {
      const unsigned long failed_before = detail::failed_checks();
      int status = 0;
      try {
        UniqueFd listener = must(linux::load_seccomp(filter));
        const int fd = listener.release();
        detail::check(::write(channel.writer.get(), &fd, sizeof fd) == sizeof fd,
                      "tell the listener");
        body();
      } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        status = 1;
      }
      ::_exit(status != 0 || detail::failed_checks() != failed_before ? 1 : 0);
    }
    channel.writer.reset();
    int remote = -1;
    detail::check(::read(channel.reader.get(), &remote, sizeof remote) == sizeof remote,
                  "no listener");
    const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    const UniqueFd listener(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.get(), remote, 0)));
    for (;;) {
      pollfd ready{listener.get(), POLLIN, 0};
      ::poll(&ready, 1, -1);
      if (ready.revents & POLLHUP) break;  // the filter has no process left
      seccomp_notif request{};
      if (::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) continue;
      seccomp_notif_resp response{};
      response.id = request.id;
      response.error =
          detail::answer(detail::requested_path(pid, request.data), request.data.nr, refuse);
      ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  });
}

}  // namespace ocirun::test
