#pragma once

// Tests that need privileges run in a forked child, in fresh namespaces, against the real kernel:
//
//   BOOST_AUTO_TEST_CASE(a_tmpfs_is_mounted) {
//     BOOST_TEST(run_in_child(CLONE_NEWNS, [] { BOOST_TEST(must(open_it()).get() >= 0); }) == 0);
//   }
//   OCIRUN_CHILD_TEST(a_tmpfs_is_mounted, CLONE_NEWNS) { … }   // the same, shorter
//
// Boost's own checks work in the child. A failed check or an exception makes the exit status
// kChildFailed. The text of an exception reaches the parent's report through a pipe.

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/execution_monitor.hpp>
#include <boost/test/framework.hpp>
#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "tests/descriptors.hpp"
#include "tests/must.hpp"

namespace ocirun::test {

inline constexpr int kChildTimeoutSeconds = 60;
inline constexpr int kChildFailed = 99;     // an exception, a failed Boost check or an open fd
inline constexpr int kChildTimedOut = 124;  // the child was killed

namespace detail {

// MS_REC | MS_PRIVATE; <linux/mount.h> and <sys/mount.h> of glibc 2.36 exclude each other.
inline constexpr unsigned long kRecursivePrivate = (1UL << 14) | (1UL << 18);

inline void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + ": " + errno_text(errno));
}

inline void write_file(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  check(fd >= 0, path.c_str());
  const bool good = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  check(good, path.c_str());
}

inline unsigned long failed_checks() {
  const auto id = boost::unit_test::framework::current_test_case_id();
  return boost::unit_test::results_collector.results(id).p_assertions_failed;
}

template <typename Callable>
int child_main(unsigned long flags, int start, int report, Callable& body) {
  // Boost's signal handlers would jump into the child's copy of Boost's test loop.
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGALRM, SIGSYS})
    ::signal(number, SIG_DFL);
  std::string failure;
  int status = 0;
  const unsigned long failed_before = failed_checks();
  try {
    char go = 0;
    check(::read(start, &go, 1) == 1, "the parent wrote no id maps");
    if (flags & CLONE_NEWUSER)
      check(::setresgid(0, 0, 0) == 0 && ::setresuid(0, 0, 0) == 0, "become the namespace's root");
    if (flags & CLONE_NEWNS)
      check(::syscall(SYS_mount, "none", "/", nullptr, kRecursivePrivate, nullptr) == 0,
            "MS_PRIVATE");
    keep_descriptors();
    if constexpr (std::is_same_v<std::invoke_result_t<Callable&>, int>)
      status = body();
    else
      body();
    if (const std::string leaked = leaked_since(childs_own_descriptors()); !leaked.empty())
      failure = "descriptors left open:" + leaked;
  } catch (const boost::execution_aborted&) {
    status = kChildFailed;  // from BOOST_REQUIRE, which has printed its message already
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "an exception of unknown type";
  }
  if (failed_checks() != failed_before || !failure.empty()) status = kChildFailed;
  if (!failure.empty() && ::write(report, failure.data(), failure.size()) < 0)
    status = kChildFailed;
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  return status;
}

inline int wait_for_child(pid_t pid, int report) {
  std::string failure;
  bool timed_out = false;
  for (;;) {
    pollfd wanted{report, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, kChildTimeoutSeconds * 1000);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      timed_out = true;
      ::kill(pid, SIGKILL);
      break;
    }
    char text[4096];
    const ssize_t got = ::read(report, text, sizeof text);
    if (got <= 0) break;
    failure.append(text, static_cast<std::size_t>(got));
  }
  int wait_status = 0;
  while (::waitpid(pid, &wait_status, 0) < 0 && errno == EINTR) {
  }
  if (!failure.empty()) BOOST_ERROR("in the child: " << failure);
  if (timed_out) {
    BOOST_ERROR("the child ran for more than " << kChildTimeoutSeconds << " s and was killed");
    return kChildTimedOut;
  }
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace detail

/// The texts for uid_map and gid_map of a new user namespace. The default maps each id to itself,
/// so that the child can read the host's files; its capabilities end at the namespace.
struct ChildMaps {
  std::string uids = "0 0 65536";
  std::string gids = "0 0 65536";
};

/// Forks with the CLONE_NEW* of `flags` and runs `body` in the child; with CLONE_NEWNS all mounts
/// are made private first. Descriptors that `body` leaves open are a failure. Returns the child's
/// exit status: 0, the value of `body`, kChildFailed, kChildTimedOut, or 128 + signal. With
/// CLONE_NEWPID no process of `body` survives the child.
template <typename Callable>
int run_in_child(unsigned long flags, Callable&& body, const ChildMaps& maps = {}) {
  int start[2];
  int report[2];
  detail::check(::pipe2(start, O_CLOEXEC) == 0 && ::pipe2(report, O_CLOEXEC) == 0, "pipe2");
  std::cout.flush();
  std::fflush(nullptr);
  // A raw clone without a new stack is a fork; the test programs have one thread.
  const long pid = ::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  detail::check(pid >= 0, "clone");
  if (pid == 0) {
    ::close(start[1]);
    ::close(report[0]);
    ::_exit(detail::child_main(flags, start[0], report[1], body));
  }
  ::close(start[0]);
  ::close(report[1]);
  if (flags & CLONE_NEWUSER) {
    const std::string proc = "/proc/" + std::to_string(pid);
    detail::write_file(proc + "/uid_map", maps.uids);
    detail::write_file(proc + "/gid_map", maps.gids);
  }
  if (::write(start[1], "g", 1) != 1) BOOST_ERROR("the child died before it began");
  ::close(start[1]);
  const int status = detail::wait_for_child(static_cast<pid_t>(pid), report[0]);
  ::close(report[0]);
  return status;
}

inline bool is_root() { return ::geteuid() == 0; }

/// A test case that only root can run: BOOST_AUTO_TEST_CASE(name, *needs_root()). For an ordinary
/// user Boost reports the case as skipped.
inline boost::unit_test::precondition needs_root() {
  return boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
    boost::test_tools::assertion_result result(is_root());
    if (!result) result.message() << "needs root";
    return result;
  });
}

}  // namespace ocirun::test

/// A test case for root whose body runs in run_in_child():
/// OCIRUN_CHILD_TEST(name, CLONE_NEWNS | CLONE_NEWPID) { … }
#define OCIRUN_CHILD_TEST(name, flags)                                   \
  static void name##_in_child();                                         \
  BOOST_AUTO_TEST_CASE(name, *ocirun::test::needs_root()) {              \
    BOOST_TEST(ocirun::test::run_in_child(flags, name##_in_child) == 0); \
  }                                                                      \
  static void name##_in_child()
