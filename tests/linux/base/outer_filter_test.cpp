#include "linux/base/outer_filter.hpp"

#include <sched.h>
#include <sys/syscall.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "tests/child_test.hpp"
#include "tests/linux/mounts/scene.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

const std::vector<long> kCalls{
    SYS_clone3,        SYS_openat2,     SYS_open_tree,         SYS_move_mount,
    SYS_fsopen,        SYS_fsconfig,    SYS_fsmount,           SYS_fspick,
    SYS_mount_setattr, SYS_pidfd_open,  SYS_pidfd_send_signal, SYS_pidfd_getfd,
    SYS_keyctl,        SYS_memfd_create};

}  // namespace

BOOST_AUTO_TEST_SUITE(outer_filter)

OCIRUN_CHILD_TEST(no_call_counts_as_filtered_without_a_filter, CLONE_NEWNS) {
  for (const long call : kCalls) BOOST_TEST(!is_filtered(call), "call " << call);
}

OCIRUN_CHILD_TEST(each_call_counts_as_filtered_under_a_filter_with_eperm_and_errno_stays,
                  CLONE_NEWNS) {
  refuse_system_calls(kCalls, EPERM);
  for (const long call : kCalls) {
    errno = E2BIG;
    BOOST_TEST(is_filtered(call), "call " << call);
    BOOST_TEST(errno == E2BIG);
  }
  BOOST_TEST(!is_filtered(SYS_getpid));
}

OCIRUN_CHILD_TEST(a_process_that_may_not_mount_meets_the_kernels_own_eperm, 0) {
  BOOST_REQUIRE(::setresuid(1000, 1000, 1000) == 0);
  const auto made = sys::fsopen("tmpfs");
  BOOST_REQUIRE(!made);
  BOOST_TEST(made.error().number() == EPERM);
  for (const long call : kCalls) BOOST_TEST(!is_filtered(call), "call " << call);
}

OCIRUN_CHILD_TEST(a_refused_call_is_an_absent_one_and_the_error_names_it, CLONE_NEWNS) {
  refuse_system_calls({SYS_fsopen}, EPERM);
  const auto made = sys::fsopen("tmpfs");
  BOOST_REQUIRE(!made);
  BOOST_TEST(made.error().number() == ENOSYS);
  check_text(made.error().message(),
             "open the filesystem type: a seccomp filter outside of ocirun refuses fsopen");
  BOOST_TEST(why_absent(SYS_fspick, "Linux 5.2") == "Linux 5.2");
}

BOOST_AUTO_TEST_SUITE_END()
