#include "linux/seccomp/filter.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "linux/seccomp/compile.hpp"
#include "linux/seccomp/decision.hpp"
#include "tests/child_test.hpp"
#include "tests/linux/seccomp/argument.hpp"
#include "tests/linux/seccomp/bpf_interpreter.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

constexpr std::uint32_t kX32 = 0x40000000;

SeccompProfile profile(SeccompAction default_action, std::vector<SeccompRule> rules = {}) {
  SeccompProfile made;
  made.default_action = default_action;
  made.rules = std::move(rules);
  return made;
}

SeccompRule rule(SeccompAction action, std::vector<std::string> names,
                 std::vector<SeccompArgument> arguments = {}) {
  SeccompRule made;
  made.action = action;
  made.names = std::move(names);
  made.arguments = std::move(arguments);
  return made;
}

SeccompFilter compile_without_warnings(const SeccompProfile& wanted) {
  std::vector<std::string> warnings;
  SeccompFilter filter = must(compile_seccomp(wanted, warnings));
  for (const std::string& warning : warnings) BOOST_ERROR("unexpected warning: " << warning);
  return filter;
}

std::string compile_error(const SeccompProfile& wanted) {
  std::vector<std::string> warnings;
  return must_fail(compile_seccomp(wanted, warnings));
}

// The number that `name` has on `arch`, with the bit of x32.
int number(const char* name, std::uint32_t arch = SCMP_ARCH_NATIVE) {
  return ::seccomp_syscall_resolve_name_arch(arch, name);
}

std::uint32_t answer(const SeccompFilter& filter, std::uint32_t audit_arch, std::uint32_t nr,
                     std::initializer_list<std::uint64_t> arguments = {}) {
  seccomp_data data{};
  data.arch = audit_arch;
  data.nr = static_cast<int>(nr);
  std::copy(arguments.begin(), arguments.end(), data.args);
  return run_filter(filter.program, data);
}

std::uint32_t native_answer(const SeccompFilter& filter, const char* name,
                            std::initializer_list<std::uint64_t> arguments = {}) {
  return answer(filter, ::seccomp_arch_native(), static_cast<std::uint32_t>(number(name)),
                arguments);
}

std::vector<Interval> newer_than(const SeccompProfile& wanted, std::uint32_t architecture) {
  std::vector<std::string> warnings;
  const PreparedProfile prepared = must(prepare(wanted, warnings));
  return newer_syscalls(wanted, architecture, must(decide(architecture, prepared, warnings)));
}

constexpr std::uint32_t errno_answer(int error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(seccomp)

BOOST_AUTO_TEST_CASE(the_names_are_those_of_the_specification)  // S-1, S-3, S-4, S-9
{
  BOOST_TEST(seccomp_action_names().size() == 9U);
  BOOST_TEST(seccomp_operator_names().size() == 7U);
  BOOST_TEST(seccomp_architecture_names().size() == 23U);
  BOOST_TEST(seccomp_flag_names().size() == 4U);
  BOOST_TEST((seccomp_action("SCMP_ACT_KILL") == SeccompAction::kKillThread));
  BOOST_TEST((seccomp_action("SCMP_ACT_KILL_PROCESS") == SeccompAction::kKillProcess));
  BOOST_TEST((seccomp_operator("SCMP_CMP_MASKED_EQ") == SeccompOperator::kMaskedEqual));
  BOOST_TEST((seccomp_architecture("SCMP_ARCH_X86_64") == AUDIT_ARCH_X86_64));
  BOOST_TEST((seccomp_architecture("SCMP_ARCH_SHEB") == AUDIT_ARCH_SH));
  BOOST_TEST((seccomp_flag("SECCOMP_FILTER_FLAG_LOG") == SECCOMP_FILTER_FLAG_LOG));
  BOOST_TEST(!seccomp_action("SCMP_ACT_ALOW"));
  BOOST_TEST(!seccomp_operator("SCMP_CMP_EQUAL"));
  BOOST_TEST(!seccomp_architecture("SCMP_ARCH_NATIVE"));
  BOOST_TEST(!seccomp_flag("SECCOMP_FILTER_FLAG_NEW_LISTENER"));
}

BOOST_AUTO_TEST_CASE(every_architecture_name_has_its_own_token) {
  std::vector<std::uint32_t> tokens;
  for (const std::string_view name : seccomp_architecture_names())
    tokens.push_back(seccomp_architecture(name).value());
  std::ranges::sort(tokens);
  BOOST_TEST((std::ranges::adjacent_find(tokens) == tokens.end()));
}

BOOST_AUTO_TEST_CASE(this_kernel_takes_the_flags_that_it_is_known_to_have) {
  const auto flags = supported_seccomp_flags();
  for (const char* name : {"SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_LOG",
                           "SECCOMP_FILTER_FLAG_SPEC_ALLOW"})  // Linux 4.14, 4.17
    BOOST_TEST((std::ranges::find(flags, name) != flags.end()), name);
  BOOST_TEST(libseccomp_version().starts_with("2."));
}

BOOST_AUTO_TEST_CASE(each_action_becomes_the_kernels)  // S-1
{
  const std::pair<SeccompAction, std::uint32_t> table[] = {
      {SeccompAction::kKillThread, SECCOMP_RET_KILL_THREAD},
      {SeccompAction::kKillProcess, SECCOMP_RET_KILL_PROCESS},
      {SeccompAction::kTrap, SECCOMP_RET_TRAP},
      {SeccompAction::kErrno, errno_answer(EPERM)},
      {SeccompAction::kTrace, SECCOMP_RET_TRACE | EPERM},
      {SeccompAction::kLog, SECCOMP_RET_LOG},
      {SeccompAction::kNotify, SECCOMP_RET_USER_NOTIF},
  };
  for (const auto& [action, wanted] : table) {
    const SeccompFilter filter =
        compile_without_warnings(profile(SeccompAction::kAllow, {rule(action, {"chdir"})}));
    BOOST_TEST(native_answer(filter, "chdir") == wanted);
    BOOST_TEST(native_answer(filter, "fchdir") == SECCOMP_RET_ALLOW);
    BOOST_TEST(filter.notify == (action == SeccompAction::kNotify));
  }
}

BOOST_AUTO_TEST_CASE(an_errno_is_given_back_exactly)  // S-2
{
  for (const std::uint32_t error : {0U, 1U, 13U, 4094U}) {
    SeccompProfile wanted =
        profile(SeccompAction::kErrno, {rule(SeccompAction::kErrno, {"chdir"})});
    wanted.default_errno_ret = ENOSYS;
    wanted.rules[0].errno_ret = error;
    const SeccompFilter filter = compile_without_warnings(wanted);
    BOOST_TEST(native_answer(filter, "chdir") == (SECCOMP_RET_ERRNO | error));
    BOOST_TEST(native_answer(filter, "fchdir") == errno_answer(ENOSYS));
  }
}

BOOST_AUTO_TEST_CASE(a_tracer_gets_all_sixteen_bits)  // S-2
{
  SeccompProfile wanted = profile(SeccompAction::kAllow, {rule(SeccompAction::kTrace, {"chdir"})});
  wanted.rules[0].errno_ret = 65535;
  BOOST_TEST(native_answer(compile_without_warnings(wanted), "chdir") ==
             (SECCOMP_RET_TRACE | 65535U));
  wanted.rules[0].errno_ret = 65536;
  BOOST_TEST(compile_error(wanted) ==
             "/linux/seccomp/syscalls/0/errnoRet: 65536 is not from 0 to 65535");
}

BOOST_AUTO_TEST_CASE(an_errno_with_another_action_is_refused_with_its_field)  // S-2
{
  SeccompProfile wanted = profile(SeccompAction::kErrno, {rule(SeccompAction::kAllow, {"chdir"})});
  wanted.rules[0].errno_ret = 1;
  BOOST_TEST(compile_error(wanted) ==
             "/linux/seccomp/syscalls/0/errnoRet: only SCMP_ACT_ERRNO and SCMP_ACT_TRACE take an"
             " errno");
  wanted = profile(SeccompAction::kAllow);
  wanted.default_errno_ret = 1;
  BOOST_TEST(compile_error(wanted).starts_with("/linux/seccomp/defaultErrnoRet: only"));
  wanted = profile(SeccompAction::kErrno);
  wanted.default_errno_ret = 4095;
  BOOST_TEST(compile_error(wanted) == "/linux/seccomp/defaultErrnoRet: 4095 is not from 0 to 4094");
}

BOOST_AUTO_TEST_CASE(notify_by_default_or_for_write_is_refused)  // S-5
{
  BOOST_TEST(compile_error(profile(SeccompAction::kNotify)).find("defaultAction") !=
             std::string::npos);
  const auto wanted = profile(SeccompAction::kAllow, {rule(SeccompAction::kNotify, {"write"})});
  BOOST_TEST(compile_error(wanted).find("/syscalls/0: SCMP_ACT_NOTIFY") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(every_operator_compares_as_it_says)  // S-9
{
  const std::uint64_t big = 0x100000005;  // both halves count
  struct Row {
    SeccompArgument condition;
    std::uint64_t met, unmet;
  };
  const Row table[] = {
      {argument(0, SeccompOperator::kEqual, big), big, 5},
      {argument(0, SeccompOperator::kNotEqual, big), 5, big},
      {argument(0, SeccompOperator::kLess, big), 6, big},
      {argument(0, SeccompOperator::kLessEqual, big), big, big + 1},
      {argument(0, SeccompOperator::kGreater, big), big + 1, big},
      {argument(0, SeccompOperator::kGreaterEqual, big), big, 6},
      {argument(0, SeccompOperator::kMaskedEqual, 0xF0, 0x20), 0x12F, 0x130},
  };
  for (const Row& row : table) {
    const auto denied = rule(SeccompAction::kErrno, {"lseek"}, {row.condition});
    const SeccompFilter filter = compile_without_warnings(profile(SeccompAction::kAllow, {denied}));
    const auto met = native_answer(filter, "lseek", {row.met});
    BOOST_TEST(native_answer(filter, "lseek", {row.unmet}) == SECCOMP_RET_ALLOW);
    BOOST_TEST(met == errno_answer(EPERM), static_cast<int>(row.condition.op));
  }
}

BOOST_AUTO_TEST_CASE(conditions_on_different_arguments_are_all_to_be_met)  // S-9
{
  const auto allowed =
      rule(SeccompAction::kAllow, {"lseek"},
           {argument(0, SeccompOperator::kEqual, 1), argument(2, SeccompOperator::kGreater, 7)});
  const SeccompFilter filter = compile_without_warnings(profile(SeccompAction::kErrno, {allowed}));
  BOOST_TEST(native_answer(filter, "lseek", {1, 0, 8}) == SECCOMP_RET_ALLOW);
  BOOST_TEST(native_answer(filter, "lseek", {1, 0, 7}) == errno_answer(EPERM));
  BOOST_TEST(native_answer(filter, "lseek", {2, 0, 8}) == errno_answer(EPERM));
}

BOOST_AUTO_TEST_CASE(of_two_conditions_on_one_argument_either_will_do)  // S-9
{
  const auto allowed =
      rule(SeccompAction::kAllow, {"personality"},
           {argument(0, SeccompOperator::kEqual, 0), argument(0, SeccompOperator::kEqual, 8)});
  const SeccompFilter filter = compile_without_warnings(profile(SeccompAction::kErrno, {allowed}));
  BOOST_TEST(native_answer(filter, "personality", {0}) == SECCOMP_RET_ALLOW);
  BOOST_TEST(native_answer(filter, "personality", {8}) == SECCOMP_RET_ALLOW);
  BOOST_TEST(native_answer(filter, "personality", {4}) == errno_answer(EPERM));
}

BOOST_AUTO_TEST_CASE(a_seventh_argument_is_refused) {
  const auto wanted =
      profile(SeccompAction::kErrno,
              {rule(SeccompAction::kAllow, {"lseek"}, {argument(6, SeccompOperator::kEqual, 0)})});
  BOOST_TEST(compile_error(wanted) == "/linux/seccomp/syscalls/0/args: index 6 is not from 0 to 5");
}

BOOST_AUTO_TEST_CASE(a_rule_that_says_what_the_default_does_is_no_error)  // S-10
{
  const SeccompFilter filter = compile_without_warnings(
      profile(SeccompAction::kErrno,
              {rule(SeccompAction::kErrno, {"chdir"}), rule(SeccompAction::kAllow, {"fchdir"})}));
  BOOST_TEST(native_answer(filter, "chdir") == errno_answer(EPERM));
  BOOST_TEST(native_answer(filter, "fchdir") == SECCOMP_RET_ALLOW);
}

BOOST_AUTO_TEST_CASE(a_rule_twice_is_no_error) {
  const SeccompFilter filter = compile_without_warnings(profile(
      SeccompAction::kErrno,
      {rule(SeccompAction::kAllow, {"chdir", "chdir"}), rule(SeccompAction::kAllow, {"chdir"})}));
  BOOST_TEST(native_answer(filter, "chdir") == SECCOMP_RET_ALLOW);
}

BOOST_AUTO_TEST_CASE(an_unknown_system_call_is_a_warning_and_the_rest_holds)  // S-8
{
  std::vector<std::string> warnings;
  const SeccompFilter filter =
      must(compile_seccomp(profile(SeccompAction::kErrno,
                                   {rule(SeccompAction::kAllow, {"no_such_call", "chdir", "nor"})}),
                           warnings));
  BOOST_REQUIRE(warnings.size() == 1);
  BOOST_TEST(warnings[0].starts_with("/linux/seccomp/syscalls: libseccomp 2."));
  BOOST_TEST(warnings[0].ends_with(" does not know no_such_call, nor; no rule was made for that"));
  BOOST_TEST(native_answer(filter, "chdir") == SECCOMP_RET_ALLOW);
}

BOOST_AUTO_TEST_CASE(of_two_rules_without_arguments_the_first_counts) {
  const SeccompFilter filter = compile_without_warnings(
      profile(SeccompAction::kErrno,
              {rule(SeccompAction::kAllow, {"fchdir"}), rule(SeccompAction::kTrap, {"fchdir"})}));
  BOOST_TEST(native_answer(filter, "fchdir") == SECCOMP_RET_ALLOW);
}

BOOST_AUTO_TEST_CASE(two_actions_for_the_same_arguments_are_refused) {
  const SeccompArgument one = argument(0, SeccompOperator::kEqual, 1);
  BOOST_TEST(compile_error(
                 profile(SeccompAction::kErrno, {rule(SeccompAction::kAllow, {"lseek"}, {one}),
                                                 rule(SeccompAction::kTrap, {"lseek"}, {one})})) ==
             "/linux/seccomp/syscalls/1: contradicts an earlier rule for lseek with the same args;"
             " remove one of them");
}

BOOST_AUTO_TEST_CASE(flags_are_passed_on_and_spec_allow_is_the_default)  // S-4
{
  SeccompProfile wanted = profile(SeccompAction::kAllow);
  BOOST_TEST(compile_without_warnings(wanted).flags == SECCOMP_FILTER_FLAG_SPEC_ALLOW);
  wanted.flags = 0;  // "flags": []
  BOOST_TEST(compile_without_warnings(wanted).flags == 0U);
  wanted.flags = SECCOMP_FILTER_FLAG_LOG;
  BOOST_TEST(compile_without_warnings(wanted).flags == SECCOMP_FILTER_FLAG_LOG);
}

BOOST_AUTO_TEST_CASE(a_flag_that_needs_a_listener_is_refused_without_one)  // S-4
{
  SeccompProfile wanted = profile(SeccompAction::kAllow);
  wanted.flags = SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  const std::string message = compile_error(wanted);
  BOOST_TEST(message.starts_with("/linux/seccomp/flags: "));
  BOOST_TEST(message.find("SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV") != std::string::npos);
}

#ifdef __x86_64__

BOOST_AUTO_TEST_CASE(an_architecture_that_is_not_listed_is_killed)  // S-3
{
  const SeccompFilter filter = compile_without_warnings(
      profile(SeccompAction::kErrno, {rule(SeccompAction::kAllow, {"chdir"})}));
  const auto chdir = static_cast<std::uint32_t>(number("chdir", SCMP_ARCH_X86));
  BOOST_TEST(answer(filter, AUDIT_ARCH_I386, chdir) == SECCOMP_RET_KILL_THREAD);
  BOOST_TEST(answer(filter, AUDIT_ARCH_AARCH64, chdir) == SECCOMP_RET_KILL_THREAD);
  BOOST_TEST(native_answer(filter, "chdir") == SECCOMP_RET_ALLOW);
  BOOST_TEST(answer(filter, AUDIT_ARCH_X86_64,
                    kX32 | static_cast<std::uint32_t>(number("chdir"))) == SECCOMP_RET_KILL_THREAD);
}

// The native architecture is included though it is not listed. Those that no x86 kernel runs are
// left out.
BOOST_AUTO_TEST_CASE(each_listed_architecture_has_the_rules_under_its_own_numbers)  // S-3
{
  SeccompProfile wanted =
      profile(SeccompAction::kErrno,
              {rule(SeccompAction::kAllow, {"execve"}),
               rule(SeccompAction::kTrap, {"lseek"}, {argument(0, SeccompOperator::kEqual, 3)})});
  for (const char* name : {"SCMP_ARCH_X86", "SCMP_ARCH_X32", "SCMP_ARCH_X86", "SCMP_ARCH_MIPS",
                           "SCMP_ARCH_LOONGARCH64", "SCMP_ARCH_AARCH64"})
    wanted.architectures.push_back(seccomp_architecture(name).value());
  const SeccompFilter filter = compile_without_warnings(wanted);
  const std::pair<std::uint32_t, std::uint32_t> table[] = {{AUDIT_ARCH_X86_64, SCMP_ARCH_X86_64},
                                                           {AUDIT_ARCH_I386, SCMP_ARCH_X86},
                                                           {AUDIT_ARCH_X86_64, SCMP_ARCH_X32}};
  for (const auto& [token, arch] : table) {
    const auto nr = [own_arch = arch](const char* name) {
      return static_cast<std::uint32_t>(number(name, own_arch));
    };
    BOOST_TEST(answer(filter, token, nr("execve")) == SECCOMP_RET_ALLOW);
    BOOST_TEST(answer(filter, token, nr("lseek"), {3}) == SECCOMP_RET_TRAP);
    BOOST_TEST(answer(filter, token, nr("lseek"), {4}) == errno_answer(EPERM));
    BOOST_TEST(answer(filter, token, nr("chdir")) == errno_answer(EPERM));
  }
  BOOST_TEST(answer(filter, AUDIT_ARCH_AARCH64, 1) == SECCOMP_RET_KILL_THREAD);
}

BOOST_AUTO_TEST_CASE(what_is_newer_than_the_profile_gets_enosys_on_each_architecture)  // S-11
{
  SeccompProfile wanted = profile(
      SeccompAction::kErrno, {rule(SeccompAction::kAllow, {"chdir", "execve"}),
                              rule(SeccompAction::kErrno, {"openat2"})});  // 437, the newest named
  wanted.architectures = {SCMP_ARCH_X86, SCMP_ARCH_X32};
  const SeccompFilter filter = compile_without_warnings(wanted);
  constexpr std::uint32_t kNewer = errno_answer(ENOSYS);
  constexpr std::uint32_t kDenied = errno_answer(EPERM);
  struct Row {
    std::uint32_t token, nr, wanted;
  };
  const Row table[] = {
      {AUDIT_ARCH_X86_64, 437, kDenied},
      {AUDIT_ARCH_X86_64, 438, kNewer},
      {AUDIT_ARCH_X86_64, 9999, kNewer},
      {AUDIT_ARCH_X86_64, 0x3FFFFFFF, kNewer},
      {AUDIT_ARCH_X86_64, 81, kDenied},  // fchdir
      {AUDIT_ARCH_I386, 437, kDenied},
      {AUDIT_ARCH_I386, 438, kNewer},
      {AUDIT_ARCH_I386, 133, kDenied},  // fchdir
      {AUDIT_ARCH_X86_64, kX32 | 437, kDenied},
      {AUDIT_ARCH_X86_64, kX32 | 438, kNewer},
      {AUDIT_ARCH_X86_64, kX32 | 511, kNewer},
      {AUDIT_ARCH_X86_64, kX32 | 512, kDenied},            // rt_sigaction
      {AUDIT_ARCH_X86_64, kX32 | 520, SECCOMP_RET_ALLOW},  // execve
      {AUDIT_ARCH_X86_64, kX32 | 547, kDenied},
      {AUDIT_ARCH_X86_64, kX32 | 548, kNewer},
      {AUDIT_ARCH_X86_64, 0xFFFFFFFF, kDenied},  // what a tracer skips
      {AUDIT_ARCH_ARM, 9999, SECCOMP_RET_KILL_THREAD},
  };
  for (const Row& row : table)
    BOOST_TEST(
        answer(filter, row.token, row.nr) == row.wanted,
        fmt::format("{:#x} {:#x}: {:#x}", row.token, row.nr, answer(filter, row.token, row.nr)));
}

// Older calls get the profile's default action. Only for calls newer than seccomp(2) the intention
// is unclear.
BOOST_AUTO_TEST_CASE(a_short_allow_list_denies_all_older_calls_as_it_says)  // S-1, S-11
{
  const SeccompFilter filter = compile_without_warnings(
      profile(SeccompAction::kErrno, {rule(SeccompAction::kAllow, {"read"})}));
  for (std::uint32_t nr = 1; nr <= 317; ++nr)
    BOOST_TEST(answer(filter, AUDIT_ARCH_X86_64, nr) == errno_answer(EPERM), nr);
  BOOST_TEST(answer(filter, AUDIT_ARCH_X86_64, 318) == errno_answer(ENOSYS));  // getrandom
}

BOOST_AUTO_TEST_CASE(x32_that_is_not_listed_is_killed_also_where_numbers_are_newer)  // S-11
{
  const SeccompFilter filter = compile_without_warnings(
      profile(SeccompAction::kErrno, {rule(SeccompAction::kAllow, {"openat2"})}));
  BOOST_TEST(answer(filter, AUDIT_ARCH_X86_64, 438) == errno_answer(ENOSYS));
  BOOST_TEST(answer(filter, AUDIT_ARCH_X86_64, kX32 | 438) == SECCOMP_RET_KILL_THREAD);
}

#endif

BOOST_AUTO_TEST_CASE(no_stub_where_the_default_lets_through_or_says_enosys_itself)  // S-11
{
  const std::uint32_t native = ::seccomp_arch_native();
  const std::vector<SeccompRule> rules{rule(SeccompAction::kTrap, {"openat2"})};
  for (const auto action : {SeccompAction::kAllow, SeccompAction::kLog, SeccompAction::kTrace})
    BOOST_TEST(newer_than(profile(action, rules), native).empty());
  for (const auto action : {SeccompAction::kErrno, SeccompAction::kKillProcess,
                            SeccompAction::kKillThread, SeccompAction::kTrap})
    BOOST_TEST(newer_than(profile(action, rules), native).size() == 1U);
  SeccompProfile wanted = profile(SeccompAction::kErrno, rules);
  wanted.default_errno_ret = ENOSYS;
  BOOST_TEST(newer_than(wanted, native).empty());
  // The age of a profile that names no system call is unknown.
  BOOST_TEST(newer_than(profile(SeccompAction::kErrno), native).empty());
}

BOOST_AUTO_TEST_CASE(arms_private_calls_do_not_make_a_profile_new)  // S-11
{
  const auto newer = newer_than(
      profile(SeccompAction::kErrno, {rule(SeccompAction::kAllow, {"set_tls", "openat2"})}),
      SCMP_ARCH_ARM);
  BOOST_REQUIRE(newer.size() == 1);
  BOOST_TEST(newer[0].first == 438U);
  BOOST_TEST(newer[0].last == 0xEFFFFU);
}

BOOST_AUTO_TEST_CASE(a_filter_longer_than_the_kernel_takes_is_refused) {
  SeccompProfile wanted = profile(SeccompAction::kErrno);
  for (std::uint64_t i = 0; i < 1500; ++i)
    wanted.rules.push_back(rule(SeccompAction::kAllow, {"lseek"},
                                {argument(1, SeccompOperator::kEqual, i * 0x100000001)}));
  BOOST_TEST(compile_error(wanted).find("the kernel takes at most 4096") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(whether_a_filter_ends_its_caller_is_known_before_it_is_loaded)  // S-12, LC-6
{
  for (const auto action :
       {SeccompAction::kKillProcess, SeccompAction::kKillThread, SeccompAction::kTrap,
        SeccompAction::kErrno, SeccompAction::kLog, SeccompAction::kNotify}) {
    const Verdict verdict = action == SeccompAction::kKillProcess ||
                                    action == SeccompAction::kKillThread ||
                                    action == SeccompAction::kTrap
                                ? Verdict::kEndsCaller
                            : action == SeccompAction::kErrno ? Verdict::kRefusesCall
                                                              : Verdict::kUnknown;
    SeccompProfile one = profile(SeccompAction::kAllow, {rule(action, {"execve", "mkdirat"})});
    for (const std::vector<std::uint32_t>& architectures :
         {std::vector<std::uint32_t>{}, {SCMP_ARCH_X86, SCMP_ARCH_X86_64, SCMP_ARCH_X32}}) {
      one.architectures = architectures;
      const SeccompFilter filter = compile_without_warnings(one);
      BOOST_CHECK(judge(filter, number("execve")) == verdict);
      BOOST_CHECK(judge(filter, number("mkdirat")) == verdict);
      BOOST_CHECK(judge(filter, number("unlinkat")) == Verdict::kUnknown);
    }
  }
  const SeccompFilter list = compile_without_warnings(
      profile(SeccompAction::kKillProcess, {rule(SeccompAction::kAllow, {"read", "execve"})}));
  BOOST_CHECK(judge(list, number("execve")) == Verdict::kUnknown);
  BOOST_CHECK(judge(list, number("mkdirat")) == Verdict::kEndsCaller);
  const SeccompFilter some = compile_without_warnings(profile(
      SeccompAction::kAllow,
      {rule(SeccompAction::kKillProcess, {"execve"}, {argument(1, SeccompOperator::kEqual, 0)})}));
  BOOST_CHECK(judge(some, number("execve")) == Verdict::kUnknown);  // up to the argument
}

BOOST_AUTO_TEST_CASE(only_calls_that_no_rule_touches_are_certainly_allowed) {
  const SeccompFilter filter = compile_without_warnings(profile(
      SeccompAction::kAllow,
      {rule(SeccompAction::kNotify, {"sendmsg"}), rule(SeccompAction::kTrace, {"fchmodat"}),
       rule(SeccompAction::kNotify, {"socket"}, {argument(0, SeccompOperator::kEqual, 1)})}));
  for (const char* name : {"write", "recvmsg", "sendmsg", "fchmodat", "socket"})
    BOOST_TEST(certainly_allows(filter, number(name)) == (name[0] == 'w' || name[0] == 'r'), name);
}

// What judge() says of each call without arguments is what the kernel would do.
BOOST_AUTO_TEST_CASE(a_verdict_agrees_with_the_filter_for_every_call) {
  SeccompProfile wanted = profile(SeccompAction::kKillProcess, {});
  wanted.architectures = {SCMP_ARCH_X86, SCMP_ARCH_X86_64, SCMP_ARCH_X32};
  for (int call = 0; call < 400; call += 3)
    if (char* name = ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call)) {
      wanted.rules.push_back(rule(SeccompAction::kAllow, {name}));
      std::free(name);
    }
  const SeccompFilter filter = compile_without_warnings(wanted);
  for (int call = 0; call < 500; ++call) {
    const bool ends = answer(filter, ::seccomp_arch_native(), static_cast<std::uint32_t>(call)) ==
                      SECCOMP_RET_KILL_PROCESS;
    BOOST_TEST_CONTEXT("call " << call) {
      BOOST_CHECK((judge(filter, call) == Verdict::kEndsCaller) == ends);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
