#include "bundle/documents/learned_profile.hpp"

#include <fcntl.h>

#include "tests/bundle/config/documents.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

namespace ocirun::bundle {

namespace {

using linux::SeccompAction;
using linux::SeccompProfile;
using linux::SeccompRule;
using test::must;

SeccompRule rule(SeccompAction action, std::vector<std::string> names,
                 std::vector<linux::SeccompArgument> arguments = {}) {
  return {.names = std::move(names),
          .action = action,
          .errno_ret = {},
          .arguments = std::move(arguments)};
}

linux::LearnedCalls calls(std::set<std::string> names) {
  return {.names = std::move(names), .architectures = {"SCMP_ARCH_X86_64"}, .unknown = {}};
}

class Learned {
 public:
  SeccompProfile add(std::set<std::string> names, const std::optional<SeccompProfile>& own = {}) {
    must(must(LearnedProfile::open(file_, own)).add(calls(std::move(names))));
    return must(parse_seccomp(must(linux::read_file(Fd{AT_FDCWD}, file_.string(), 1 << 20, 0))));
  }
  const HostPath& file() const { return file_; }

 private:
  test::Scratch scratch_;
  HostPath file_{scratch_ / "profile.json"};
};

/// The action of the first rule for the name without conditions; the default action without one.
SeccompAction action_for(const SeccompProfile& profile, const std::string& name) {
  for (const SeccompRule& one : profile.rules)
    if (one.arguments.empty() && std::ranges::find(one.names, name) != one.names.end())
      return one.action;
  return profile.default_action;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(learned_profiles)

BOOST_AUTO_TEST_CASE(used_calls_are_allowed_and_all_else_is_refused) {
  Learned learned;
  const SeccompProfile profile = learned.add({"openat"});
  BOOST_CHECK(profile.default_action == SeccompAction::kErrno);
  for (const char* name : {"openat", "execve", "exit_group", "write"})
    BOOST_CHECK(action_for(profile, name) == SeccompAction::kAllow);
  BOOST_CHECK(action_for(profile, "mkdir") == SeccompAction::kErrno);
}

BOOST_AUTO_TEST_CASE(runs_add_up_whatever_rule_had_let_the_call_through) {
  Learned learned;
  SeccompProfile logging;
  logging.rules = {rule(SeccompAction::kLog, {"mkdir", "rmdir"})};
  SeccompProfile profile = learned.add({"mkdir", "openat"}, logging);
  BOOST_CHECK(action_for(profile, "mkdir") == SeccompAction::kLog);
  BOOST_CHECK(action_for(profile, "rmdir") == SeccompAction::kErrno);
  BOOST_TEST(!LearnedProfile::open(learned.file(), std::nullopt));  // would lose the logging
  profile = learned.add({"chdir"}, logging);
  BOOST_CHECK(action_for(profile, "mkdir") == SeccompAction::kLog);
  BOOST_CHECK(action_for(profile, "openat") == SeccompAction::kAllow);
  BOOST_CHECK(action_for(profile, "chdir") == SeccompAction::kAllow);
}

BOOST_AUTO_TEST_CASE(conditions_refusals_architectures_and_flags_are_taken_over) {
  Learned learned;
  SeccompProfile own;
  own.default_action = SeccompAction::kErrno;
  own.default_errno_ret = 38;
  own.architectures = {linux::seccomp_architecture("SCMP_ARCH_AARCH64").value()};
  own.flags = linux::seccomp_flag("SECCOMP_FILTER_FLAG_LOG");
  own.rules = {
      rule(SeccompAction::kAllow, {"personality", "read"},
           {{.index = 0, .value = 8, .value_two = 0, .op = linux::SeccompOperator::kEqual}}),
      rule(SeccompAction::kKillProcess, {"reboot"})};
  const SeccompProfile profile = learned.add({"personality"}, own);
  BOOST_TEST(profile.default_errno_ret.value() == 38U);
  BOOST_TEST(profile.architectures.size() == 2U);
  BOOST_TEST(profile.flags.value() == own.flags.value());
  BOOST_CHECK(action_for(profile, "reboot") == SeccompAction::kKillProcess);
  BOOST_CHECK(action_for(profile, "personality") == SeccompAction::kErrno);
  BOOST_TEST(profile.rules[0].names == std::vector<std::string>{"personality"},
             boost::test_tools::per_element());
  BOOST_TEST(profile.rules[0].arguments.at(0).value == 8U);
}

BOOST_AUTO_TEST_CASE(a_refusal_by_arguments_behind_a_default_that_allows_is_refused) {
  const Learned learned;
  SeccompProfile own;
  own.rules = {rule(SeccompAction::kAllow, {"read"}), rule(SeccompAction::kErrno, {"clone"}, {{}})};
  const auto opened = LearnedProfile::open(learned.file(), own);
  BOOST_REQUIRE(!opened);
  BOOST_TEST(opened.error().message().starts_with(
      "/linux/seccomp/syscalls/1: refuses clone for its arguments"));
  own.default_action = SeccompAction::kErrno;
  BOOST_TEST(LearnedProfile::open(learned.file(), own).has_value());
}

BOOST_AUTO_TEST_CASE(a_condition_that_the_default_makes_needless_restricts_no_used_call) {
  Learned learned;
  SeccompProfile own;
  own.rules = {rule(SeccompAction::kLog, {"openat"}, {{.index = 2, .value = 99999}})};
  BOOST_CHECK(action_for(learned.add({"openat"}, own), "openat") == SeccompAction::kAllow);
}

BOOST_AUTO_TEST_CASE(what_a_file_says_beyond_the_profile_in_force_is_not_lost) {
  Learned learned;
  SeccompProfile own;
  own.rules = {rule(SeccompAction::kErrno, {"mkdir", "rmdir"})};
  learned.add({"read"}, own);
  const auto opened = LearnedProfile::open(learned.file(), std::nullopt);
  BOOST_REQUIRE(!opened);
  BOOST_TEST(opened.error().message().contains("/syscalls/0: says something of mkdir"));
  own.rules.push_back(rule(SeccompAction::kErrno, {"chdir"}));
  BOOST_TEST(LearnedProfile::open(learned.file(), own).has_value());
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_profile_stays_as_it_is) {
  Learned learned;
  must(linux::replace_file(learned.file(), "{}", 0644));
  const auto opened = LearnedProfile::open(learned.file(), std::nullopt);
  BOOST_REQUIRE(!opened);
  BOOST_TEST(opened.error().message().starts_with(learned.file().string() + ": "));
  BOOST_TEST(!LearnedProfile::open(HostPath("/none/such/profile"), std::nullopt));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
