#include "tests/linux/seccomp/against_libseccomp.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

// Few values, so that conditions often meet, overlap and contradict each other.
constexpr std::uint64_t kValues[] = {0,
                                     1,
                                     2,
                                     3,
                                     5,
                                     0x10,
                                     0xF0,
                                     0xFFFFFFFF,
                                     0x100000000,
                                     0x100000005,
                                     ~std::uint64_t{0},
                                     0x7E020000,
                                     0xFFFFFFFF00000000};
// Plain calls, calls that socketcall(2) and ipc(2) stand for, and calls of some architectures only.
constexpr const char* kNames[] = {"read",
                                  "write",
                                  "chdir",
                                  "clone",
                                  "personality",
                                  "lseek",
                                  "openat2",
                                  "execve",
                                  "socket",
                                  "accept4",
                                  "sendto",
                                  "semop",
                                  "semtimedop",
                                  "shmat",
                                  "msgget",
                                  "socketcall",
                                  "ipc",
                                  "arch_prctl",
                                  "mmap2",
                                  "set_tls",
                                  "rt_sigaction",
                                  "recvmmsg",
                                  "landlock_restrict_self"};

class RandomProfile {
 public:
  explicit RandomProfile(std::uint32_t seed) : random_(seed) {}

  SeccompProfile profile() {
    SeccompProfile made;
    made.default_action = action();
    for (std::size_t i = below(8); i > 0; --i) {
      SeccompRule rule;
      rule.action = action();
      if (rule.action == SeccompAction::kErrno && below(2) == 0)
        rule.errno_ret = static_cast<std::uint32_t>(below(3));
      for (std::size_t k = 1 + below(3); k > 0; --k)
        rule.names.emplace_back(kNames[below(std::size(kNames))]);
      for (std::size_t k = below(4); k > 0; --k) rule.arguments.push_back(argument());
      made.rules.push_back(std::move(rule));
    }
    return made;
  }
  std::mt19937& random() { return random_; }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }
  SeccompAction action() {
    constexpr SeccompAction kActions[] = {SeccompAction::kAllow, SeccompAction::kErrno,
                                          SeccompAction::kKillProcess, SeccompAction::kLog};
    return kActions[below(std::size(kActions))];
  }
  SeccompArgument argument() {
    return {.index = static_cast<std::uint32_t>(below(4)),
            .value = kValues[below(std::size(kValues))],
            .value_two = kValues[below(std::size(kValues))],
            .op = static_cast<SeccompOperator>(below(7))};
  }
  std::mt19937 random_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(seccomp_against_libseccomp)

BOOST_AUTO_TEST_CASE(random_profiles_mean_the_same) {  // S-1, S-3, S-9
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    RandomProfile maker(seed);
    const SeccompProfile profile = maker.profile();
    for (const std::uint32_t architecture : kComparedArchitectures) {
      const auto difference = wrong_answer(profile, architecture, 0, 40, maker.random());
      BOOST_TEST(!difference, "seed " << seed << ": " << difference.value_or("") << "\n"
                                      << described(profile));
    }
  }
}

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

BOOST_AUTO_TEST_SUITE_END()
