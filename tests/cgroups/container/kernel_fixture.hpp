#pragma once

// Cgroups of this test's own on the real kernel: below /ocirun-test-<pid>, removed at the end.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>

#include "cgroups/container/cgroup.hpp"
#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/open_cgroup.hpp"
#include "linux/files/procfs.hpp"
#include "tests/child_test.hpp"

namespace ocirun::cgroups::test {

using ocirun::test::must;
using ocirun::test::must_fail;

inline Layout host_layout() {
  return must(read_layout(must(linux::Procfs::open(linux::Procfs::Subset::kProcesses))));
}

/// The host with its unified hierarchy alone, as on cgroup v2.
inline Layout unified_layout() {
  Layout layout = host_layout();
  std::erase_if(layout.hierarchies, [](const Hierarchy& h) { return !h.unified; });
  return layout;
}

/// Root and v1 hierarchies with these controllers ("unified" is the unified one).
template <typename... Controllers>
boost::unit_test::precondition::predicate_t host_has(Controllers... controllers) {
  const std::vector<std::string> wanted = {std::string(controllers)...};
  return [wanted](boost::unit_test::test_unit_id) -> boost::test_tools::assertion_result {
    if (::geteuid() != 0) {
      boost::test_tools::assertion_result no(false);
      no.message() << "wants root";
      return no;
    }
    for (const std::string& controller : wanted) {
      const Layout layout = host_layout();
      const bool there = std::ranges::any_of(layout.hierarchies, [&](const Hierarchy& h) {
        return controller == "unified"
                   ? h.unified
                   : std::ranges::find(h.controllers, controller) != h.controllers.end();
      });
      if (there) continue;
      boost::test_tools::assertion_result no(false);
      no.message() << "this host does not mount " << controller;
      return no;
    }
    return true;
  };
}

inline DeviceRule allow_all() {
  return {.allow = true,
          .type = 'a',
          .major = {},
          .minor = {},
          .read = true,
          .write = true,
          .mknod = true};
}

/// A cgroup /ocirun-test-<pid>/<name>, destroyed at the end.
class TestCgroup {
 public:
  explicit TestCgroup(const std::string& name, const Layout& layout = host_layout())
      : path_("/ocirun-test-" + std::to_string(::getpid()) + "/" + name),
        cgroup_(must(make_cgroup(layout, must(place(path_, "unused"))))) {}
  TestCgroup(const TestCgroup&) = delete;
  TestCgroup& operator=(const TestCgroup&) = delete;
  ~TestCgroup() {
    if (const auto destroyed = cgroup_->destroy(); !destroyed)
      BOOST_ERROR(destroyed.error().message());
    BOOST_TEST(!exists());
  }
  TestCgroup& create(std::vector<DeviceRule> devices = {allow_all()}) {
    must(cgroup_->create(devices));
    return *this;
  }

  Cgroup* operator->() const { return cgroup_.get(); }
  Cgroup& operator*() const { return *cgroup_; }
  const std::string& path() const { return path_; }
  bool exists() const {
    return std::ranges::any_of(cgroup_->record().directories, [](const auto& directory) {
      return ::access(directory.second.c_str(), F_OK) == 0;
    });
  }
  /// The directory with this controller ("" for the unified one).
  Directory directory(const std::string& controller) const {
    for (const auto& [controllers, path] : cgroup_->record().directories)
      if (controllers == controller) return must(Directory::open(path));
    throw std::runtime_error("no directory for " + controller);
  }
  std::string read(const std::string& controller, const std::string& file) const {
    return directory(controller).read_or_empty(file);
  }

 private:
  std::string path_;
  std::unique_ptr<Cgroup> cgroup_;
};

/// Joins as init does; the unified hierarchy by its file, which any process may do.
inline void join(const Cgroup::JoinHandles& handles) {
  for (const UniqueFd& tasks : handles.tasks)
    if (::write(tasks.get(), "0", 1) != 1) ::_exit(90);
  if (!handles.unified_directory) return;
  const UniqueFd procs(
      ::openat(handles.unified_directory.get(), "cgroup.procs", O_WRONLY | O_CLOEXEC));
  if (::write(procs.get(), "0", 1) != 1) ::_exit(91);
}

/// A child that joins and then runs `body`, whose value is its exit status. The constructor returns
/// once the child has joined; the destructor kills and reaps it.
class Member {
 public:
  Member(const Cgroup::JoinHandles& handles, const std::function<int()>& body) {
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      join(handles);
      if (::write(ready[1], "x", 1) != 1) ::_exit(92);
      ::_exit(body());
    }
    ::close(ready[1]);
    char byte = 0;
    const bool joined = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
    if (!joined) {
      wait();
      throw std::runtime_error("the child did not join");
    }
  }
  explicit Member(const TestCgroup& cgroup, const std::function<int()>& body = sleep_forever)
      : Member(must(cgroup->open_for_join()), body) {}
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  int pid() const { return pid_; }
  /// The exit status, or minus the signal that ended it.
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  static int sleep_forever() {
    while (true) ::pause();
  }

 private:
  int pid_ = -1;
};

}  // namespace ocirun::cgroups::test
