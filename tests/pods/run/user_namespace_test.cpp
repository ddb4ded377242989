// The user namespaces of an ordinary user's pods.

#include "pods/run/user_namespace.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/clone.hpp"
#include "pods/run/sandbox/holder.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr unsigned kNobodys = 54321;  // a user to whom the machine lends no ids

/// Runs `body` as an ordinary user in a child process.
template <typename Callable>
int run_as_user(Callable&& body) {
  return run_in_child(0, [&] {
    BOOST_REQUIRE(::setgroups(0, nullptr) == 0);
    BOOST_REQUIRE(::setresgid(kNobodys, kNobodys, kNobodys) == 0);
    BOOST_REQUIRE(::setresuid(kNobodys, kNobodys, kNobodys) == 0);
    ::prctl(PR_SET_DUMPABLE, 1);
    body();
  });
}

/// A child process that does `prepare` and then waits until it is killed.
class Waiting {
 public:
  template <typename Callable>
  explicit Waiting(Callable&& prepare) {
    int ready[2];
    BOOST_REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
    child_ = must(linux::clone_process(0, Fd{-1}, linux::Parentage::kMine));
    if (child_.pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const bool is_prepared = prepare();
      if (!is_prepared || ::write(ready[1], "r", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char word = 0;
    const ssize_t count = ::read(ready[0], &word, 1);
    ::close(ready[0]);
    BOOST_REQUIRE(count == 1);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { linux::kill_child(child_); }

  linux::ProcessIdentity identity() const {
    return {.pid = child_.pid, .start_time = must(linux::read_process_stat(child_.pid)).start_time};
  }

 private:
  linux::Child child_;
};

std::string user_namespace_of(int pid) {
  return must(linux::sys::readlinkat(Fd{AT_FDCWD}, namespace_path(pid, "user").c_str()));
}

PodRecord record_with(const linux::ProcessIdentity& supervisor) {
  PodRecord record;
  record.boot_id = must(linux::read_boot_id());
  record.supervisor = supervisor;
  return record;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(user_namespaces_of_pods, *needs_root())

BOOST_AUTO_TEST_CASE(a_user_becomes_root_with_the_own_id_alone_when_none_are_lent) {
  BOOST_TEST(run_as_user([] {
               BOOST_TEST(linux::is_in_initial_user_namespace());
               must(become_root_of_own_namespace());
               BOOST_TEST((::geteuid() == 0 && ::getegid() == 0));
               BOOST_TEST(!linux::is_in_initial_user_namespace());
               const auto map = must(linux::own_id_map(linux::IdKind::kUser));
               BOOST_REQUIRE(map.size() == 1u);
               BOOST_TEST((map[0] == linux::IdMapping{0, kNobodys, 1}));
               BOOST_TEST(::prctl(PR_GET_DUMPABLE) == 1);
             }) == 0);
}

BOOST_AUTO_TEST_CASE(the_namespace_of_a_running_pod_is_entered) {
  BOOST_TEST(run_as_user([] {
               const Waiting supervisor([] { return become_root_of_own_namespace().has_value(); });
               const std::string mounts =
                   must(linux::sys::readlinkat(Fd{AT_FDCWD}, namespace_path(0, "mnt").c_str()));
               must(become_root_of_namespace_of(record_with(supervisor.identity())));
               BOOST_TEST(user_namespace_of(0) == user_namespace_of(supervisor.identity().pid));
               BOOST_TEST(must(linux::sys::readlinkat(Fd{AT_FDCWD},
                                                      namespace_path(0, "mnt").c_str())) != mounts);
             }) == 0);
}

BOOST_AUTO_TEST_CASE(another_process_of_the_same_pid_is_not_the_pods) {
  BOOST_TEST(run_as_user([] {
               const Waiting other([] { return become_root_of_own_namespace().has_value(); });
               linux::ProcessIdentity wrong = other.identity();
               ++wrong.start_time;
               const std::string others = user_namespace_of(wrong.pid);
               must(become_root_of_namespace_of(record_with(wrong)));
               BOOST_TEST(::geteuid() == 0u);
               BOOST_TEST(user_namespace_of(0) != others);
             }) == 0);
}

BOOST_AUTO_TEST_CASE(the_users_own_surroundings_are_no_namespace_of_a_pod) {
  BOOST_TEST(run_as_user([] {
               const Waiting plain([] { return true; });
               const std::string current = user_namespace_of(0);
               must(become_root_of_namespace_of(record_with(plain.identity())));
               BOOST_TEST(::geteuid() == 0u);
               BOOST_TEST(user_namespace_of(0) != current);
             }) == 0);
}

BOOST_AUTO_TEST_CASE(work_on_a_pod_is_done_by_a_root_and_its_error_comes_back) {
  BOOST_TEST(run_as_user([] {
               const PodRecord record = record_with({});
               must(as_root_of(record, []() -> Result<void> {
                 if (::geteuid() != 0) return refuse("no root");
                 return {};
               }));
               BOOST_TEST(::geteuid() == kNobodys);
               const auto failed = as_root_of(
                   record, []() -> Result<void> { return fail(EBUSY, "remove the pod"); });
               BOOST_REQUIRE(!failed);
               BOOST_TEST(failed.error().number() == EBUSY);
               BOOST_TEST(failed.error().message() == "remove the pod: device or resource busy");
             }) == 0);
}

BOOST_AUTO_TEST_CASE(root_works_on_a_pod_in_its_own_process) {
  int seen = 0;
  must(as_root_of(PodRecord(), [&]() -> Result<void> {
    seen = ::getpid();
    return {};
  }));
  BOOST_TEST(seen == ::getpid());
}

BOOST_AUTO_TEST_SUITE_END()
