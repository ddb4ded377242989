// The default filter for the system calls of containers, as the kernel would run it: for this
// machine and for others, with and without capabilities.

#include "pods/prepare/plan/seccomp.hpp"

#include <linux/personality.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/socket.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <set>

#include "bundle/config/sections.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/seccomp/compile.hpp"
#include "pods/prepare/plan/system_calls.hpp"
#include "tests/linux/seccomp/bpf_interpreter.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

using Names = std::vector<std::string>;

std::string text_of(const Names& capabilities) {
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kIndented);
  write_default_seccomp(out, capabilities);
  return std::move(out).take();
}

linux::SeccompProfile parse(const std::string& text) {
  bundle::Document document;
  bundle::Report report(bundle::UnknownNames::kTold);
  linux::SeccompProfile profile;
  BOOST_REQUIRE(document.parse(text, report));
  bundle::read_seccomp(bundle::Value(*document.root(), report), profile);
  for (const std::string& problem : report.problems()) BOOST_ERROR(problem);
  for (const std::string& warning : report.warnings()) BOOST_ERROR(warning);
  return profile;
}

/// The default filter on one architecture.
class Filter {
 public:
  explicit Filter(const Names& capabilities = {}, std::uint32_t architecture = SCMP_ARCH_X86_64)
      : architecture_(architecture) {
    const linux::SeccompProfile profile = parse(text_of(capabilities));
    Names warnings;
    const auto prepared = must(linux::prepare(profile, warnings));
    const std::array architectures{architecture};
    program_ = must(linux::compile_for(architectures, profile, prepared, warnings));
    for (const std::string& warning : warnings) BOOST_ERROR(warning);
    BOOST_TEST(program_.size() <= std::size_t{BPF_MAXINSNS});
  }

  std::uint32_t answer(int number, std::uint64_t first = 0) const {
    seccomp_data data{};
    data.nr = number;
    data.arch = architecture_;
    data.args[0] = first;
    return run_filter(program_, data);
  }
  std::uint32_t answer(const std::string& name, std::uint64_t first = 0) const {
    const int number = ::seccomp_syscall_resolve_name_arch(architecture_, name.c_str());
    BOOST_REQUIRE_MESSAGE(number >= 0, name);
    return answer(number, first);
  }

 private:
  std::uint32_t architecture_;
  linux::Program program_;
};

constexpr std::uint32_t error(int number) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number);
}
constexpr std::uint32_t kAllowed = SECCOMP_RET_ALLOW;
constexpr std::array<std::uint32_t, 3> kArchitectures{SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64,
                                                      SCMP_ARCH_X86};
using Numbers = std::vector<std::uint64_t>;

}  // namespace

BOOST_AUTO_TEST_SUITE(default_seccomp)

BOOST_AUTO_TEST_CASE(libseccomp_knows_all_names_and_each_stands_in_one_list) {
  std::set<std::string_view> always, conditional;
  for (const SystemCalls list : {calls_for_all(), refused_calls()})
    for (const std::string_view name : list) {
      BOOST_TEST(linux::is_system_call(std::string(name)), name);
      BOOST_TEST(always.insert(name).second, name);
    }
  for (const auto& [capability, calls] : calls_by_capability()) {
    BOOST_TEST(linux::capability_number(capability).has_value(), capability);
    for (const std::string_view name : calls) {
      BOOST_TEST(linux::is_system_call(std::string(name)), name);
      BOOST_TEST(!always.contains(name), name);
    }
  }
}

// Debian 12 has libseccomp 2.5.4, which ends with Linux 5.17. A newer name would give a warning at
// each start of a container.
BOOST_AUTO_TEST_CASE(no_name_is_newer_than_libseccomp_2_5) {
  const int last = ::seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, "set_mempolicy_home_node");
  std::vector<std::string_view> all(calls_for_all().begin(), calls_for_all().end());
  all.insert(all.end(), refused_calls().begin(), refused_calls().end());
  for (const auto& [capability, calls] : calls_by_capability())
    all.insert(all.end(), calls.begin(), calls.end());
  for (const std::string_view name : all)
    BOOST_TEST(
        ::seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, std::string(name).c_str()) <= last,
        name);
}

BOOST_AUTO_TEST_CASE(ordinary_programs_have_what_they_need) {
  for (const std::uint32_t architecture : kArchitectures) {
    const Filter filter({}, architecture);
    for (const char* name :
         {"read",        "openat",         "openat2",      "execve",    "wait4",
          "mmap",        "futex",          "epoll_pwait",  "accept4",   "setresuid",
          "prctl",       "seccomp",        "rt_sigreturn", "statx",     "rseq",
          "close_range", "getrandom",      "memfd_create", "io_submit", "sched_setaffinity",
          "mknodat",     "restart_syscall"})
      if (::seccomp_syscall_resolve_name_arch(architecture, name) >= 0)
        BOOST_TEST(filter.answer(name) == kAllowed, name);
  }
}

BOOST_AUTO_TEST_CASE(what_reaches_the_machine_is_refused_whatever_the_capabilities) {
  const Filter bare;
  const Filter admin({"CAP_SYS_ADMIN", "CAP_SYS_BOOT", "CAP_SYS_MODULE", "CAP_SYS_PTRACE"});
  for (const char* name : {"keyctl", "add_key", "request_key", "io_uring_setup", "io_uring_enter",
                           "userfaultfd", "kexec_load", "swapon"})
    for (const Filter* filter : {&bare, &admin}) BOOST_TEST(filter->answer(name) == error(EPERM));
}

BOOST_AUTO_TEST_CASE(a_call_that_the_list_does_not_know_seems_to_be_absent) {
  for (const std::uint32_t architecture : kArchitectures) {
    const Filter filter({}, architecture);
    const int newest = ::seccomp_syscall_resolve_name_arch(architecture, "futex_waitv");
    BOOST_TEST(filter.answer(newest) == kAllowed);
    BOOST_TEST(filter.answer(newest + 3) == error(ENOSYS));  // fchmodat2, Linux 6.6
    BOOST_TEST(filter.answer(1000) == error(ENOSYS));
  }
  BOOST_TEST(Filter().answer("modify_ldt") == error(ENOSYS));
}

BOOST_AUTO_TEST_CASE(a_capability_allows_its_calls) {
  const Filter bare({"CAP_CHOWN"});
  for (const auto& [capability, calls] : calls_by_capability()) {
    const Filter with({std::string(capability)});
    for (const std::string_view call : calls) {
      const std::string name(call);
      if (::seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, name.c_str()) < 0) continue;
      BOOST_TEST(bare.answer(name) == error(EPERM), name);
      BOOST_TEST(with.answer(name) == kAllowed, name);
    }
  }
  BOOST_TEST(Filter({"CAP_SYS_PTRACE"}).answer("mount") == error(EPERM));
  BOOST_TEST(Filter({"CAP_PERFMON"}).answer("perf_event_open") == kAllowed);
}

BOOST_AUTO_TEST_CASE(namespaces_are_made_only_with_cap_sys_admin) {
  constexpr std::uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                                    CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                                    CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  constexpr std::uint64_t kNewTime = 0x80;
  for (const std::uint32_t architecture : kArchitectures) {
    const Filter bare({}, architecture);
    BOOST_TEST(bare.answer("clone", kThread) == kAllowed);
    BOOST_TEST(bare.answer("clone", SIGCHLD) == kAllowed);
    BOOST_TEST(bare.answer("clone3") == error(ENOSYS));
    BOOST_TEST(bare.answer("unshare", CLONE_FILES) == kAllowed);
    BOOST_TEST(bare.answer("unshare", kNewTime) == error(EPERM));
    for (const std::uint64_t flag :
         Numbers{CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                 CLONE_NEWPID, CLONE_NEWNET}) {
      BOOST_TEST(bare.answer("clone", flag | SIGCHLD) == error(EPERM));
      BOOST_TEST(bare.answer("unshare", flag | CLONE_FILES) == error(EPERM));
    }
  }
  const Filter admin({"CAP_SYS_ADMIN"});
  for (const char* name : {"clone", "clone3", "unshare", "setns", "mount"})
    BOOST_TEST(admin.answer(name, CLONE_NEWUSER) == kAllowed);
}

// The kernel takes the lower half of these arguments, so the upper half must not matter.
BOOST_AUTO_TEST_CASE(sockets_have_families_that_belong_to_a_network_namespace) {
  constexpr std::uint64_t kUpper = 0xAB00000000;
  for (const std::uint32_t architecture : {kArchitectures[0], kArchitectures[1]}) {
    const Filter filter({"CAP_SYS_ADMIN", "CAP_NET_RAW"}, architecture);
    for (const std::uint64_t family : Numbers{AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET})
      for (const std::uint64_t upper : {std::uint64_t{0}, kUpper})
        BOOST_TEST(filter.answer("socket", family | upper) == kAllowed);
    for (const std::uint64_t family :
         Numbers{AF_VSOCK, AF_ALG, AF_CAN, AF_RDS, AF_KEY, AF_BLUETOOTH})
      for (const std::uint64_t upper : {std::uint64_t{0}, kUpper})
        BOOST_TEST(filter.answer("socket", family | upper) == error(EAFNOSUPPORT));
    BOOST_TEST(filter.answer("socket", 200) == error(ENOSYS));
  }
  constexpr int kSocket = 359, kSocketcall = 102;
  const Filter i386({}, SCMP_ARCH_X86);
  BOOST_TEST(i386.answer(kSocket, AF_INET) == kAllowed);
  BOOST_TEST(i386.answer(kSocket, AF_VSOCK) == error(EAFNOSUPPORT));
  BOOST_TEST(i386.answer(kSocketcall, 1) == error(EPERM));
}

BOOST_AUTO_TEST_CASE(the_personality_is_asked_for_or_an_ordinary_one) {
  const Filter filter;
  for (const std::uint64_t value : {std::uint64_t{PER_LINUX}, std::uint64_t{PER_LINUX32},
                                    std::uint64_t{0xFFFFFFFF}, ~std::uint64_t{0}})
    BOOST_TEST(filter.answer("personality", value) == kAllowed);
  for (const std::uint64_t value : Numbers{ADDR_NO_RANDOMIZE, READ_IMPLIES_EXEC, MMAP_PAGE_ZERO})
    BOOST_TEST(filter.answer("personality", value) != kAllowed);
}

// What `ocirun create` does with the profile: no warning at each start of a container.
BOOST_AUTO_TEST_CASE(the_runtime_compiles_the_profile_without_a_word) {
  for (const Names& capabilities : {Names{}, Names{"CAP_SYS_ADMIN"}}) {
    Names warnings;
    must(linux::compile_seccomp(parse(text_of(capabilities)), warnings));
    for (const std::string& warning : warnings) BOOST_ERROR(warning);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(seccomp_of_the_operator)

BOOST_AUTO_TEST_CASE(a_profile_has_the_form_of_linux_seccomp) {
  const std::string text =
      R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "not_yet"], "action": "SCMP_ACT_ERRNO"}]})";
  const SeccompChoice choice = must(read_seccomp_profile(text));
  BOOST_TEST((choice.kind == SeccompChoice::Kind::kProfile && choice.profile == text));
}

BOOST_AUTO_TEST_CASE(another_form_is_refused_with_its_place) {
  const auto refused = [](const char* text) { return must_fail(read_seccomp_profile(text)); };
  BOOST_TEST(refused("[]") ==
             "the profile must be an object of the form of linux.seccomp in config.json: the "
             "document: must be an object, not a list");
  BOOST_TEST(refused(R"({"defaultAction": "SCMP_ACT_ALLOW", "archMap": []})")
                 .ends_with("/archMap: unknown name, ignored"));
  BOOST_TEST(refused(R"({"defaultAction": "ALLOW"})").contains("/defaultAction: unknown action"));
  BOOST_TEST(refused("{").contains("line 1"));
}

BOOST_AUTO_TEST_SUITE_END()
