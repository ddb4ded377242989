// The profile that engines give every container, from the package of their configuration files.

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "linux/seccomp/filter.hpp"
#include "tests/child_test.hpp"
#include "tests/linux/seccomp/bpf_interpreter.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

constexpr const char* kProfile = "/usr/share/containers/seccomp.json";
const std::set<std::string> kGranted{"CAP_CHOWN", "CAP_SYS_CHROOT"};
const std::set<std::string> kMachines{"amd64", "x86", "x32"};

bool intersects(const nlohmann::json& object, const char* key, const std::set<std::string>& set) {
  for (const std::string& name : object.value(key, std::vector<std::string>{}))
    if (set.contains(name)) return true;
  return false;
}

// As an engine turns an entry of its profile into one of config.json.
bool applies(const nlohmann::json& entry) {
  const auto includes = entry.value("includes", nlohmann::json::object());
  const auto excludes = entry.value("excludes", nlohmann::json::object());
  return (!includes.contains("caps") || intersects(includes, "caps", kGranted)) &&
         (!includes.contains("arches") || intersects(includes, "arches", kMachines)) &&
         !intersects(excludes, "caps", kGranted) && !intersects(excludes, "arches", kMachines);
}

SeccompRule to_rule(const nlohmann::json& entry) {
  SeccompRule rule;
  rule.names = entry.at("names").get<std::vector<std::string>>();
  rule.action = seccomp_action(entry.at("action").get<std::string>()).value();
  if (rule.action == SeccompAction::kErrno && entry.contains("errnoRet"))
    rule.errno_ret = entry.at("errnoRet").get<std::uint32_t>();
  if (!entry.contains("args") || entry.at("args").is_null()) return rule;
  for (const auto& argument : entry.at("args"))
    rule.arguments.push_back(
        {.index = argument.at("index").get<std::uint32_t>(),
         .value = argument.at("value").get<std::uint64_t>(),
         .value_two = argument.at("valueTwo").get<std::uint64_t>(),
         .op = seccomp_operator(argument.at("op").get<std::string>()).value()});
  return rule;
}

std::optional<SeccompProfile> engine_profile() {
  std::ifstream file(kProfile);
  if (!file) {
    BOOST_TEST_MESSAGE("skipped: " << kProfile << " is not installed");
    return std::nullopt;
  }
  const auto json = nlohmann::json::parse(file);
  SeccompProfile profile;
  profile.default_action = seccomp_action(json.at("defaultAction").get<std::string>()).value();
  if (json.contains("defaultErrnoRet"))
    profile.default_errno_ret = json.at("defaultErrnoRet").get<std::uint32_t>();
  for (const char* name : {"SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"})
    profile.architectures.push_back(seccomp_architecture(name).value());
  for (const auto& entry : json.at("syscalls"))
    if (applies(entry)) profile.rules.push_back(to_rule(entry));
  return profile;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(seccomp_profile_of_the_engines)

#ifdef __x86_64__

BOOST_AUTO_TEST_CASE(it_compiles_for_three_architectures_and_says_what_it_should) {
  const auto profile = engine_profile();
  if (!profile) return;
  std::vector<std::string> warnings;
  const SeccompFilter filter = must(compile_seccomp(*profile, warnings));
  const auto answer = [&](std::uint32_t arch, int nr, std::uint64_t first, std::uint64_t third) {
    return run_filter(
        filter.program,
        {.nr = nr, .arch = arch, .instruction_pointer = 0, .args = {first, 0, third, 0, 0, 0}});
  };
  constexpr int kSocket = 41, kPersonality = 135, kChroot = 161;
  constexpr std::uint64_t kNetlink = 16, kAudit = 9;
  BOOST_TEST(answer(AUDIT_ARCH_X86_64, kSocket, AF_INET, 0) == SECCOMP_RET_ALLOW);
  BOOST_TEST(answer(AUDIT_ARCH_X86_64, kSocket, kNetlink, 0) == SECCOMP_RET_ALLOW);
  BOOST_TEST(answer(AUDIT_ARCH_X86_64, kSocket, kNetlink, kAudit) == (SECCOMP_RET_ERRNO | EINVAL));
  BOOST_TEST(answer(AUDIT_ARCH_X86_64, kPersonality, 8, 0) == SECCOMP_RET_ALLOW);
  BOOST_TEST(answer(AUDIT_ARCH_X86_64, kPersonality, 1, 0) != SECCOMP_RET_ALLOW);
  BOOST_TEST(answer(AUDIT_ARCH_X86_64, kChroot, 0, 0) == SECCOMP_RET_ALLOW);
  BOOST_TEST(answer(AUDIT_ARCH_X86_64, 0x40000000, 0, 0) == SECCOMP_RET_ALLOW);  // x32 read
  BOOST_TEST(answer(AUDIT_ARCH_I386, 3, 0, 0) == SECCOMP_RET_ALLOW);             // i386 read
  constexpr int kKexec = 246;
  BOOST_TEST(answer(AUDIT_ARCH_X86_64, kKexec, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
  BOOST_TEST(answer(AUDIT_ARCH_I386, 283, 0, 0) == (SECCOMP_RET_ERRNO | EPERM));
}

#endif

OCIRUN_CHILD_TEST(a_program_runs_under_it, 0) {
  const auto profile = engine_profile();
  if (!profile) return;
  std::vector<std::string> warnings;
  const SeccompFilter filter = must(compile_seccomp(*profile, warnings));
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!load_seccomp(filter)) ::_exit(1);
    ::execl("/bin/sh", "sh", "-c", "test -d / && exit 42", nullptr);
    ::_exit(2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 42));
}

BOOST_AUTO_TEST_SUITE_END()
