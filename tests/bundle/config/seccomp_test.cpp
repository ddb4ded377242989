#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(seccomp_section)

using linux::SeccompAction;

namespace {

linux::SeccompProfile profile_of(std::string_view profile) {
  return *config_of(fmt::format(R"({{"linux": {{"seccomp": {}}}}})", profile)).seccomp;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_whole_profile_arrives) {  // S-1 … S-9
  const auto profile = profile_of(R"({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38,
    "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"], "flags": ["SECCOMP_FILTER_FLAG_LOG"],
    "listenerPath": "/run/agent.sock", "listenerMetadata": "m",
    "syscalls": [
      {"names": ["read", "write"], "action": "SCMP_ACT_ALLOW"},
      {"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"},
      {"names": ["ptrace"], "action": "SCMP_ACT_TRACE", "errnoRet": 65535, "args": [
        {"index": 5, "value": 18446744073709551615, "valueTwo": 1, "op": "SCMP_CMP_MASKED_EQ"},
        {"index": 0, "value": 2, "op": "SCMP_CMP_GE"}]}]})");
  BOOST_TEST((profile.default_action == SeccompAction::kErrno));
  BOOST_TEST(*profile.default_errno_ret == 38U);
  BOOST_TEST(profile.architectures.size() == 2U);
  BOOST_TEST(*profile.flags == *linux::seccomp_flag("SECCOMP_FILTER_FLAG_LOG"));
  BOOST_TEST(profile.listener_path.string() == "/run/agent.sock");
  BOOST_TEST(profile.listener_metadata == "m");
  BOOST_TEST_REQUIRE(profile.rules.size() == 3U);
  BOOST_TEST(profile.rules[0].names.size() == 2U);
  BOOST_TEST(profile.uses_notify());
  const auto& trace = profile.rules[2];
  BOOST_TEST(*trace.errno_ret == 65535U);
  BOOST_TEST(trace.arguments[0].index == 5U);
  BOOST_TEST(trace.arguments[0].value == ~std::uint64_t{0});
  BOOST_TEST(trace.arguments[0].value_two == 1U);
  BOOST_TEST((trace.arguments[1].op == linux::SeccompOperator::kGreaterEqual));
}

BOOST_AUTO_TEST_CASE(a_profile_spares_its_caller_when_every_action_lets_it_go_on) {
  const auto spares = [](std::string_view by_default, std::string_view action) {
    return profile_of(fmt::format(R"({{"defaultAction": "SCMP_ACT_{}",
             "syscalls": [{{"names": ["mkdir"], "action": "SCMP_ACT_{}"}}]}})",
                                  by_default, action))
        .spares_caller();
  };
  for (const char* action : {"ALLOW", "LOG", "ERRNO"}) {
    BOOST_TEST(spares(action, "ALLOW"));
    BOOST_TEST(spares("ALLOW", action));
  }
  for (const char* action : {"KILL", "KILL_PROCESS", "KILL_THREAD", "TRAP", "TRACE"}) {
    BOOST_TEST(!spares(action, "ALLOW"));
    BOOST_TEST(!spares("ALLOW", action));
  }
  const auto notifies = profile_of(R"({"defaultAction": "SCMP_ACT_ALLOW",
    "listenerPath": "/run/agent.sock",
    "syscalls": [{"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}]})");
  BOOST_TEST(!notifies.spares_caller());
}

BOOST_AUTO_TEST_CASE(every_name_of_the_specification_is_known) {  // S-1, S-3, S-4, S-9
  for (const char* action :
       {"KILL", "KILL_PROCESS", "KILL_THREAD", "TRAP", "ERRNO", "TRACE", "ALLOW", "LOG"})
    profile_of(fmt::format(R"({{"defaultAction": "SCMP_ACT_{}"}})", action));
  for (const char* architecture :
       {"X86",         "X86_64", "X32",    "ARM",       "AARCH64", "LOONGARCH64",
        "M68K",        "MIPS",   "MIPS64", "MIPS64N32", "MIPSEL",  "MIPSEL64",
        "MIPSEL64N32", "PPC",    "PPC64",  "PPC64LE",   "S390",    "S390X",
        "SH",          "SHEB",   "PARISC", "PARISC64",  "RISCV64"})
    BOOST_TEST(
        profile_of(
            fmt::format(R"({{"defaultAction": "SCMP_ACT_LOG", "architectures": ["SCMP_ARCH_{}"]}})",
                        architecture))
            .architectures.size() == 1U);
  for (const char* flag : {"TSYNC", "LOG", "SPEC_ALLOW", "WAIT_KILLABLE_RECV"})
    BOOST_TEST(
        profile_of(
            fmt::format(
                R"({{"defaultAction": "SCMP_ACT_LOG", "flags": ["SECCOMP_FILTER_FLAG_{}"]}})",
                flag))
            .flags.has_value());
  for (const char* op : {"NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ"})
    profile_of(fmt::format(R"({{"defaultAction": "SCMP_ACT_LOG", "syscalls": [{{"names": ["read"],
      "action": "SCMP_ACT_TRAP", "args": [{{"index": 0, "value": 1, "op": "SCMP_CMP_{}"}}]}}]}})",
                           op));
}

BOOST_AUTO_TEST_CASE(no_flags_and_an_empty_list_are_told_apart) {  // S-4
  BOOST_TEST(!profile_of(R"({"defaultAction": "SCMP_ACT_LOG"})").flags.has_value());
  BOOST_TEST(*profile_of(R"({"defaultAction": "SCMP_ACT_LOG", "flags": []})").flags == 0U);
}

BOOST_AUTO_TEST_CASE(a_relative_listener_is_below_the_bundle) {  // S-5
  BOOST_TEST(profile_of(R"({"defaultAction": "SCMP_ACT_LOG", "listenerPath": "agent"})")
                 .listener_path.string() == "/bundles/web1/agent");
}

BOOST_AUTO_TEST_CASE(mistakes_in_profiles) {  // S-1 … S-9
  constexpr Mistake kMistakes[] = {
      {R"({"syscalls": []})", "/defaultAction", "is missing"},
      {R"({"defaultAction": "SCMP_ACT_ALOW"})", "/defaultAction",
       "unknown action \"SCMP_ACT_ALOW\" (did you mean SCMP_ACT_ALLOW?)"},
      {R"({"defaultAction": "scmp_act_allow"})", "/defaultAction",
       "(did you mean SCMP_ACT_ALLOW?)"},
      {R"({"defaultAction": "SCMP_ACT_ALLOW", "defaultErrnoRet": 1})", "/defaultErrnoRet",
       "for SCMP_ACT_ERRNO and SCMP_ACT_TRACE only"},
      {R"({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 4095})", "/defaultErrnoRet",
       "to 4094"},
      {R"({"defaultAction": "SCMP_ACT_TRACE", "defaultErrnoRet": 65536})", "/defaultErrnoRet",
       "to 65535"},
      {R"({"defaultAction": "SCMP_ACT_LOG", "architectures": ["SCMP_ARCH_X86_65"]})",
       "/architectures/0", "unknown architecture"},
      {R"({"defaultAction": "SCMP_ACT_LOG", "flags": ["SECCOMP_FILTER_FLAG_LOGS"]})", "/flags/0",
       "(did you mean SECCOMP_FILTER_FLAG_LOG?)"},
      {R"({"defaultAction": "SCMP_ACT_NOTIFY", "listenerPath": "/s"})", "/defaultAction",
       "cannot be the default"},
      {R"({"defaultAction": "SCMP_ACT_LOG", "listenerMetadata": "m"})", "/listenerMetadata",
       "needs listenerPath"},
      {R"({"defaultAction": "SCMP_ACT_LOG", "syscalls": [{"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}]})",
       "/listenerPath", "needs a listener"},
      {R"({"defaultAction": "SCMP_ACT_LOG", "listenerPath": "/s",
          "syscalls": [{"names": ["read", "write"], "action": "SCMP_ACT_NOTIFY"}]})",
       "/syscalls/0/action", "on \"write\" would block"},
      {R"({"defaultAction": "SCMP_ACT_LOG", "syscalls": [{"names": [], "action": "SCMP_ACT_TRAP"}]})",
       "/syscalls/0/names", "at least one system call"},
      {R"({"defaultAction": "SCMP_ACT_LOG", "syscalls": [{"names": [""], "action": "SCMP_ACT_TRAP"}]})",
       "/syscalls/0/names/0", "must not be empty"},
      {R"({"defaultAction": "SCMP_ACT_LOG", "syscalls": [{"name": "read", "action": "SCMP_ACT_TRAP"}]})",
       "/syscalls/0/names", "is missing"},  // SD-11: `name` is of 0.5
      {R"({"defaultAction": "SCMP_ACT_LOG", "syscalls": [{"names": ["read"]}]})",
       "/syscalls/0/action", "is missing"},
      {R"({"defaultAction": "SCMP_ACT_LOG", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW",
          "errnoRet": 1}]})",
       "/syscalls/0/errnoRet", "for SCMP_ACT_ERRNO and SCMP_ACT_TRACE only"},
      {R"({"defaultAction": "SCMP_ACT_LOG", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_TRAP",
          "args": [{"index": 6, "value": 1, "op": "SCMP_CMP_EQ"}]}]})",
       "/syscalls/0/args/0/index", "from 0 to 5"},
      {R"({"defaultAction": "SCMP_ACT_LOG", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_TRAP",
          "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_ET"}]}]})",
       "/syscalls/0/args/0/op", "(did you mean "},
      {R"({"defaultAction": "SCMP_ACT_LOG", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_TRAP",
          "args": [{"index": 0, "op": "SCMP_CMP_EQ"}]}]})",
       "/syscalls/0/args/0/value", "is missing"},
  };
  for (const Mistake& mistake : kMistakes) {
    const std::string patch = fmt::format(R"({{"linux": {{"seccomp": {}}}}})", mistake.patch);
    const std::string pointer = fmt::format("/linux/seccomp{}", mistake.pointer);
    check_mistakes(std::array{Mistake{patch, pointer, mistake.words}});
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
