// Filters that are loaded into the kernel.

#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>

#include "linux/base/file_io.hpp"
#include "linux/seccomp/filter.hpp"
#include "tests/child_test.hpp"
#include "tests/sanitizers.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

SeccompProfile allow_but(SeccompAction action, std::vector<std::string> names) {
  SeccompProfile profile;
  profile.rules.emplace_back();
  profile.rules[0].action = action;
  profile.rules[0].names = std::move(names);
  return profile;
}

SeccompFilter compile(const SeccompProfile& profile) {
  std::vector<std::string> warnings;
  return must(compile_seccomp(profile, warnings));
}

UniqueFd load(const SeccompProfile& profile) {
  const SeccompFilter filter = compile(profile);
  test::detail::check(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
  return must(load_seccomp(filter));
}

int errno_of(long result) { return result < 0 ? errno : 0; }

}  // namespace

BOOST_AUTO_TEST_SUITE(seccomp_in_the_kernel)

OCIRUN_CHILD_TEST(an_errno_is_felt, 0)  // S-1, S-2
{
  SeccompProfile profile = allow_but(SeccompAction::kErrno, {"chdir"});
  profile.rules[0].errno_ret = EXDEV;
  BOOST_TEST(!load(profile));  // no listener
  BOOST_TEST(errno_of(::chdir("/")) == EXDEV);
  BOOST_TEST(errno_of(::fchdir(-1)) == EBADF);
}

BOOST_AUTO_TEST_CASE(a_kill_is_felt, *needs_root())  // S-1
{
  for (const auto action :
       {SeccompAction::kKillProcess, SeccompAction::kKillThread, SeccompAction::kTrap}) {
    const int status = run_in_child(0, [&] {
      load(allow_but(action, {"chdir"}));
      ignore(::chdir("/"));
      return 0;
    });
    BOOST_TEST(status == 128 + SIGSYS);
  }
}

OCIRUN_CHILD_TEST(a_traced_call_without_a_tracer_is_enosys_and_a_logged_one_works, 0)  // S-1
{
  load(allow_but(SeccompAction::kTrace, {"chdir"}));
  load(allow_but(SeccompAction::kLog, {"getppid"}));
  BOOST_TEST(errno_of(::chdir("/")) == ENOSYS);
  BOOST_TEST(::getppid() >= 0);
}

OCIRUN_CHILD_TEST(a_tracer_gets_the_errno_of_the_profile_as_event_data, 0)  // S-2
{
  SeccompProfile profile = allow_but(SeccompAction::kTrace, {"chdir"});
  profile.rules[0].errno_ret = 77;
  const SeccompFilter filter = compile(profile);
  const pid_t tracee = ::fork();
  if (tracee == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::raise(SIGSTOP);
    ignore(load_seccomp(filter));
    ::_exit(::chdir("/") == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(tracee, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, tracee, nullptr, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL);
  ::ptrace(PTRACE_CONT, tracee, nullptr, nullptr);
  ::waitpid(tracee, &status, 0);
  BOOST_TEST((status >> 8) == (SIGTRAP | (PTRACE_EVENT_SECCOMP << 8)));
  unsigned long data = 0;
  ::ptrace(PTRACE_GETEVENTMSG, tracee, nullptr, &data);
  BOOST_TEST(data == 77U);
  ::ptrace(PTRACE_CONT, tracee, nullptr, nullptr);
  ::waitpid(tracee, &status, 0);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

// What the allow list of a container that only waits would be.
OCIRUN_CHILD_TEST(a_number_newer_than_the_profile_is_enosys_and_a_denied_one_eperm, 0)  // S-11
{
#if defined(__SANITIZE_ADDRESS__) || OCIRUN_CLANG_SANITIZES
  BOOST_TEST_MESSAGE("skipped: AddressSanitizer needs mmap and sigaltstack, which the list denies");
  return;
#endif
  SeccompProfile profile = allow_but(SeccompAction::kErrno, {});
  profile.default_action = SeccompAction::kErrno;
  profile.rules[0].action = SeccompAction::kAllow;
  profile.rules[0].names = {"exit_group", "write", "close", "munmap", "fcntl", "openat2"};
  load(profile);
  const int denied = errno_of(::syscall(SYS_chdir, "/"));
  const int newer = errno_of(::syscall(9999));
  const int newest_named = errno_of(::syscall(437, -1, "x", nullptr, 0));  // openat2: allowed
  const bool good = denied == EPERM && newer == ENOSYS && newest_named != EPERM;
  ::_exit(good ? 0 : 1);
}

OCIRUN_CHILD_TEST(a_listener_answers_for_the_process, 0)  // S-5
{
  SeccompProfile profile = allow_but(SeccompAction::kNotify, {"chdir"});
  const Pipe pipe = must(make_pipe());
  const SeccompFilter filter = compile(profile);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    auto listener = load_seccomp(filter);
    const int fd = listener ? listener->get() : -1;
    ignore(::write(pipe.writer.get(), &fd, sizeof fd));
    ::_exit(::chdir("/nowhere") < 0 && errno == EXFULL ? 0 : 1);
  }
  int remote = -1;
  BOOST_REQUIRE(::read(pipe.reader.get(), &remote, sizeof remote) == sizeof remote);
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  const UniqueFd listener(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.get(), remote, 0)));
  BOOST_REQUIRE(bool(listener));
  seccomp_notif request{};
  BOOST_REQUIRE(::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) == 0);
  BOOST_TEST(request.data.nr == SYS_chdir);
  seccomp_notif_resp response{.id = request.id, .val = 0, .error = -EXFULL, .flags = 0};
  BOOST_TEST(::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &response) == 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

OCIRUN_CHILD_TEST(tsync_and_a_listener_go_together, 0)  // S-4, S-5
{
  SeccompProfile profile = allow_but(SeccompAction::kNotify, {"chdir"});
  profile.flags = SECCOMP_FILTER_FLAG_TSYNC;
  BOOST_TEST(bool(load(profile)));
}

OCIRUN_CHILD_TEST(every_flag_that_the_kernel_is_said_to_take_loads, 0)  // S-4
{
  SeccompProfile profile = allow_but(SeccompAction::kNotify, {"chdir"});
  profile.flags = 0;
  for (const std::string_view name : supported_seccomp_flags())
    profile.flags = *profile.flags | seccomp_flag(name).value();
  BOOST_TEST(bool(load(profile)));
}

OCIRUN_CHILD_TEST(without_no_new_privs_and_capability_the_error_says_what_it_needs, 0)  // S-12
{
  const SeccompFilter filter = compile(allow_but(SeccompAction::kErrno, {"chdir"}));
  BOOST_REQUIRE(::setresuid(1000, 1000, 1000) == 0);
  BOOST_TEST(must_fail(load_seccomp(filter)) ==
             "load the seccomp filter (needs /process/noNewPrivileges or CAP_SYS_ADMIN): permission"
             " denied");
  BOOST_TEST(::chdir("/") == 0);
}

OCIRUN_CHILD_TEST(a_second_listener_is_refused_with_the_reason, 0) {
  const auto profile = allow_but(SeccompAction::kNotify, {"chdir"});
  const UniqueFd first = load(profile);
  BOOST_TEST(must_fail(load_seccomp(compile(profile))).find("has a listener already") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
