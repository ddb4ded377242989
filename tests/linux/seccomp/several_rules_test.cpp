// Profiles whose rules for one call differ in their conditions.

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "linux/seccomp/filter.hpp"
#include "tests/linux/seccomp/argument.hpp"
#include "tests/linux/seccomp/bpf_interpreter.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

SeccompRule rule_for_lseek(SeccompAction action, std::vector<SeccompArgument> arguments) {
  SeccompRule rule;
  rule.names = {"lseek"};
  rule.action = action;
  rule.arguments = std::move(arguments);
  return rule;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(seccomp_several_rules)

// Each value here is answered otherwise by libseccomp 2.5, whose search mixes up the two bounds.
BOOST_AUTO_TEST_CASE(two_bounds_of_one_argument_mean_what_they_say) {  // S-9
  const auto argument = [](SeccompOperator op, std::uint64_t value) {
    return SeccompArgument{.index = 1, .value = value, .value_two = 0, .op = op};
  };
  SeccompProfile wanted;
  wanted.default_action = SeccompAction::kAllow;
  wanted.rules.resize(2);
  for (SeccompRule& rule : wanted.rules) {
    rule.names = {"lseek"};
    rule.action = SeccompAction::kErrno;
  }
  wanted.rules[0].arguments = {argument(SeccompOperator::kLessEqual, 0x7E020000)};
  wanted.rules[1].arguments = {argument(SeccompOperator::kGreaterEqual, 0x100000000)};
  std::vector<std::string> warnings;
  const auto filter = compile_seccomp(wanted, warnings);
  BOOST_TEST_REQUIRE(filter.has_value());
  seccomp_data call{};
  call.arch = ::seccomp_arch_native();
  call.nr = ::seccomp_syscall_resolve_name("lseek");
  for (const std::uint64_t value : {std::uint64_t{0x7E020001}, std::uint64_t{0xFFFFFFFF}}) {
    call.args[1] = value;
    BOOST_TEST(run_filter(filter->program, call) == SECCOMP_RET_ALLOW);
  }
  for (const std::uint64_t value : {std::uint64_t{0x7E020000}, std::uint64_t{0x100000000}}) {
    call.args[1] = value;
    BOOST_TEST(run_filter(filter->program, call) == (SECCOMP_RET_ERRNO | EPERM));
  }
}

// libseccomp 2.5 allows lseek(0, 0, 2) here, which no rule matches, and refuses lseek(2, 0, 0).
BOOST_AUTO_TEST_CASE(of_rules_with_different_actions_only_matching_ones_count) {  // S-9
  SeccompProfile profile;
  profile.default_action = SeccompAction::kErrno;
  profile.rules = {
      rule_for_lseek(SeccompAction::kAllow, {argument(0, SeccompOperator::kGreaterEqual, 2)}),
      rule_for_lseek(SeccompAction::kKillProcess, {argument(2, SeccompOperator::kEqual, 1),
                                                   argument(0, SeccompOperator::kLessEqual, 8)})};
  std::vector<std::string> warnings;
  const auto filter = compile_seccomp(profile, warnings);
  BOOST_TEST_REQUIRE(filter.has_value());
  seccomp_data call{};
  call.arch = ::seccomp_arch_native();
  call.nr = ::seccomp_syscall_resolve_name("lseek");
  const auto answer = [&](std::uint64_t first, std::uint64_t third) {
    call.args[0] = first;
    call.args[2] = third;
    return run_filter(filter->program, call);
  };
  BOOST_TEST(answer(0, 2) == (SECCOMP_RET_ERRNO | EPERM));
  BOOST_TEST(answer(2, 0) == SECCOMP_RET_ALLOW);
  BOOST_TEST(answer(0, 1) == SECCOMP_RET_KILL_PROCESS);
  BOOST_TEST(answer(2, 1) == SECCOMP_RET_KILL_PROCESS);  // both match: the more severe one
  BOOST_TEST_REQUIRE(warnings.size() == 1U);
  BOOST_TEST(warnings[0].starts_with("/linux/seccomp/syscalls/1: a call of lseek may match"));
}

BOOST_AUTO_TEST_CASE(rules_that_cannot_match_the_same_call_are_no_reason_to_warn) {
  const auto warnings_for = [](SeccompArgument one, SeccompArgument other) {
    SeccompProfile profile;
    profile.default_action = SeccompAction::kErrno;
    profile.rules = {rule_for_lseek(SeccompAction::kAllow, {one}),
                     rule_for_lseek(SeccompAction::kLog, {other})};
    std::vector<std::string> warnings;
    BOOST_TEST(compile_seccomp(profile, warnings).has_value());
    return warnings.size();
  };
  using enum SeccompOperator;
  BOOST_TEST(warnings_for(argument(0, kEqual, 3), argument(0, kEqual, 5)) == 0U);
  BOOST_TEST(warnings_for(argument(0, kNotEqual, 5), argument(0, kEqual, 5)) == 0U);
  BOOST_TEST(warnings_for(argument(0, kNotEqual, 3), argument(0, kEqual, 5)) == 1U);
  BOOST_TEST(warnings_for(argument(0, kLess, 5), argument(0, kGreaterEqual, 5)) == 0U);
  BOOST_TEST(warnings_for(argument(0, kEqual, 3), argument(1, kEqual, 5)) == 1U);
}

// libseccomp 2.5 loops without end on these two rules, and takes minutes for the third profile.
BOOST_AUTO_TEST_CASE(every_profile_is_compiled_or_refused_at_once) {
  using enum SeccompOperator;
  SeccompProfile looping;
  looping.default_action = SeccompAction::kErrno;
  looping.rules = {
      rule_for_lseek(SeccompAction::kAllow, {argument(0, kNotEqual, 1), argument(1, kNotEqual, 8)}),
      rule_for_lseek(SeccompAction::kKillProcess,
                     {argument(2, kMaskedEqual, 8), argument(0, kNotEqual, 1)})};
  std::vector<std::string> warnings;
  BOOST_TEST(compile_seccomp(looping, warnings).has_value());

  std::vector<SeccompArgument> many;
  for (std::uint64_t value = 0; value < 300; ++value) many.push_back(argument(0, kEqual, value));
  SeccompProfile repeated;
  repeated.rules = {rule_for_lseek(SeccompAction::kErrno, many)};
  repeated.rules[0].names.assign(1000, "lseek");
  BOOST_TEST(compile_seccomp(repeated, warnings).has_value());

  SeccompProfile hidden;
  hidden.rules = {rule_for_lseek(SeccompAction::kErrno, many)};
  hidden.rules[0].names.assign(300, "semop");
  hidden.architectures = {SCMP_ARCH_X86};
  BOOST_TEST(compile_seccomp(hidden, warnings).has_value());

  for (std::uint64_t value = 300; value < 16'000; ++value)
    many.push_back(argument(0, kEqual, value));
  SeccompProfile excessive;
  excessive.rules = {rule_for_lseek(SeccompAction::kErrno, many)};
  const auto refused = compile_seccomp(excessive, warnings);
  BOOST_TEST_REQUIRE(!refused.has_value());
  BOOST_TEST(refused.error().message().starts_with("/linux/seccomp/syscalls/0/args: 16000"));
}

// i386 has socket(2) as call 359 and behind socketcall(2), whose arguments lie in memory.
BOOST_AUTO_TEST_CASE(arguments_behind_socketcall_are_not_guessed,
                     *boost::unit_test::precondition([](auto) {
                       return ::seccomp_arch_native() == SCMP_ARCH_X86_64;
                     })) {
  constexpr int kSocketCall = 102;
  constexpr int kSocket = 359;
  constexpr int kInet = 2;
  const auto answer = [](SeccompAction default_action, SeccompAction action, int number,
                         std::uint64_t first) {
    SeccompProfile profile;
    profile.default_action = default_action;
    profile.architectures = {SCMP_ARCH_X86};
    profile.rules = {rule_for_lseek(action, {argument(0, SeccompOperator::kEqual, kInet)})};
    profile.rules[0].names = {"socket"};
    std::vector<std::string> warnings;
    const auto filter = compile_seccomp(profile, warnings);
    BOOST_TEST_REQUIRE(filter.has_value());
    BOOST_TEST(warnings.size() == 1U);
    seccomp_data call{};
    call.arch = AUDIT_ARCH_I386;
    call.nr = number;
    call.args[0] = first;
    return run_filter(filter->program, call);
  };
  using enum SeccompAction;
  // More severe than the default: every socket(2) behind socketcall(2), and no other call.
  BOOST_TEST(answer(kAllow, kKillProcess, kSocket, kInet) == SECCOMP_RET_KILL_PROCESS);
  BOOST_TEST(answer(kAllow, kKillProcess, kSocket, kInet + 1) == SECCOMP_RET_ALLOW);
  BOOST_TEST(answer(kAllow, kKillProcess, kSocketCall, 1) == SECCOMP_RET_KILL_PROCESS);
  BOOST_TEST(answer(kAllow, kKillProcess, kSocketCall, kInet) == SECCOMP_RET_ALLOW);
  // Less severe: none.
  BOOST_TEST(answer(kErrno, kAllow, kSocket, kInet) == SECCOMP_RET_ALLOW);
  BOOST_TEST(answer(kErrno, kAllow, kSocketCall, 1) == (SECCOMP_RET_ERRNO | EPERM));
}

BOOST_AUTO_TEST_SUITE_END()
