#include "linux/seccomp/learn.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/syscall.h>

#include <boost/test/unit_test.hpp>

#include "tests/linux/seccomp/bpf_interpreter.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

SeccompFilter learning(SeccompProfile profile) {
  std::vector<std::string> warnings;
  return learning_filter(must(compile_seccomp(profile, warnings)));
}

std::uint32_t answer(const SeccompFilter& filter, int call,
                     std::uint32_t architecture = ::seccomp_arch_native()) {
  const seccomp_data data{.nr = call, .arch = architecture, .instruction_pointer = 0, .args = {}};
  return run_filter(filter.program, data);
}

SeccompRule rule(SeccompAction action, const char* name) {
  return {.names = {name}, .action = action, .errno_ret = {}, .arguments = {}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(seccomp_learning)

BOOST_AUTO_TEST_CASE(what_is_allowed_or_logged_is_noted_and_other_answers_stay) {
  SeccompProfile profile;
  profile.rules = {rule(SeccompAction::kLog, "chdir"), rule(SeccompAction::kErrno, "mkdirat"),
                   rule(SeccompAction::kKillProcess, "unlinkat")};
  const SeccompFilter filter = learning(profile);
  BOOST_TEST(filter.notify);
  BOOST_TEST(answer(filter, SYS_getpid) == SECCOMP_RET_USER_NOTIF);
  BOOST_TEST(answer(filter, SYS_chdir) == SECCOMP_RET_USER_NOTIF);
  BOOST_TEST(answer(filter, SYS_mkdirat) == (SECCOMP_RET_ERRNO | 1U));
  BOOST_TEST(answer(filter, SYS_unlinkat) == SECCOMP_RET_KILL_PROCESS);
  BOOST_TEST(answer(filter, SYS_write) == SECCOMP_RET_ALLOW);
}

BOOST_AUTO_TEST_CASE(write_is_not_let_through_where_the_profile_refuses_it) {
  SeccompProfile profile;
  profile.rules = {rule(SeccompAction::kErrno, "write")};
  BOOST_TEST(answer(learning(profile), SYS_write) == (SECCOMP_RET_ERRNO | 1U));
}

BOOST_AUTO_TEST_CASE(the_number_of_write_is_another_call_elsewhere) {
  BOOST_TEST(answer(learning({}), SYS_write, AUDIT_ARCH_PPC64) == SECCOMP_RET_KILL_THREAD);
}

BOOST_AUTO_TEST_CASE(calls_get_names_and_architectures) {
  const LearnedCalls words = in_words({{.architecture = SCMP_ARCH_X86_64, .number = 0},
                                       {.architecture = SCMP_ARCH_X86, .number = 1},
                                       {.architecture = SCMP_ARCH_X86_64, .number = 0x40000001},
                                       {.architecture = SCMP_ARCH_AARCH64, .number = 99999}});
  BOOST_TEST(words.names == (std::set<std::string>{"exit", "read", "write"}),
             boost::test_tools::per_element());
  BOOST_TEST(words.architectures ==
                 (std::set<std::string>{"SCMP_ARCH_X32", "SCMP_ARCH_X86", "SCMP_ARCH_X86_64"}),
             boost::test_tools::per_element());
  BOOST_REQUIRE(words.unknown.size() == 1U);
  BOOST_TEST(words.unknown[0].starts_with("the system call 99999 of the architecture"));
}

BOOST_AUTO_TEST_SUITE_END()
