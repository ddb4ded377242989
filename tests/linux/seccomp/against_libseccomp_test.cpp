#include "tests/linux/seccomp/against_libseccomp.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "linux/seccomp/condition.hpp"

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
    if (made.default_action == SeccompAction::kErrno && below(2) == 0)
      made.default_errno_ret = static_cast<std::uint32_t>(below(3));
    for (std::size_t i = below(below(4) == 0 ? 30 : 8); i > 0; --i) {
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
    constexpr SeccompAction kActions[] = {SeccompAction::kAllow,       SeccompAction::kErrno,
                                          SeccompAction::kKillProcess, SeccompAction::kLog,
                                          SeccompAction::kKillThread,  SeccompAction::kTrap,
                                          SeccompAction::kTrace};
    return kActions[below(std::size(kActions))];
  }
  SeccompArgument argument() {
    return {.index = static_cast<std::uint32_t>(below(6)),
            .value = kValues[below(std::size(kValues))],
            .value_two = kValues[below(std::size(kValues))],
            .op = static_cast<SeccompOperator>(below(7))};
  }
  std::mt19937 random_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(seccomp_against_libseccomp)

BOOST_AUTO_TEST_CASE(random_profiles_mean_what_they_say,
                     *boost::unit_test::label("exhaustive")) {  // S-1, S-3, S-9
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    RandomProfile maker(seed);
    const SeccompProfile profile = maker.profile();
    for (const std::uint32_t architecture : kComparedArchitectures) {
      const auto difference =
          wrong_answer(profile, {.architecture = architecture, .tries = 40}, maker.random());
      BOOST_TEST(!difference, "seed " << seed << ": " << difference.value_or("") << "\n"
                                      << described(profile));
    }
  }
}

BOOST_AUTO_TEST_CASE(random_profiles_of_several_architectures_mean_what_they_say,
                     *boost::unit_test::label("exhaustive")) {  // S-3
  constexpr std::uint32_t kOrders[][3] = {{SCMP_ARCH_X86_64, SCMP_ARCH_X86, SCMP_ARCH_X32},
                                          {SCMP_ARCH_X32, SCMP_ARCH_X86_64, SCMP_ARCH_X86}};
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    RandomProfile maker(seed);
    const SeccompProfile profile = maker.profile();
    for (const auto& order : kOrders)
      for (const std::uint32_t architecture : order) {
        const auto difference = wrong_answer(profile,
                                             {.architecture = architecture,
                                              .compiled_for = order,
                                              .tries = 20,
                                              .asks_libseccomp = false},
                                             maker.random());
        BOOST_TEST(!difference, "seed " << seed << ": " << difference.value_or("") << "\n"
                                        << described(profile));
      }
  }
}

// The tree is longer than a conditional jump reaches, and so is the way to its routines.
BOOST_AUTO_TEST_CASE(a_profile_of_all_calls_with_alternating_actions_means_what_it_says) {  // S-8
  for (const std::uint32_t architecture :
       {std::uint32_t{SCMP_ARCH_X86_64}, std::uint32_t{SCMP_ARCH_X86},
        std::uint32_t{SCMP_ARCH_AARCH64}}) {
    SeccompProfile profile;
    profile.default_action = SeccompAction::kErrno;
    for (int number = 0; number < 500; ++number) {
      if (own_name_of(architecture, number).empty()) continue;
      SeccompRule rule;
      rule.names = {own_name_of(architecture, number)};
      rule.action = number % 3 == 0 ? SeccompAction::kLog : SeccompAction::kAllow;
      if (number % 3 == 1)
        rule.arguments = {{.index = static_cast<std::uint32_t>(number % 6),
                           .value = static_cast<std::uint64_t>(number),
                           .value_two = 0,
                           .op = SeccompOperator::kNotEqual}};
      profile.rules.push_back(std::move(rule));
    }
    std::mt19937 random(architecture);
    const auto difference =
        wrong_answer(profile, {.architecture = architecture, .all_below = 600}, random);
    BOOST_TEST(!difference, difference.value_or(""));
  }
}

// EntryPoints asks libseccomp for a few ranges of numbers. This test asks for all numbers.
BOOST_AUTO_TEST_CASE(a_call_behind_socketcall_or_ipc_is_found_under_its_own_number_too) {  // S-8
  constexpr std::uint32_t kArchitectures[] = {SCMP_ARCH_X86,  SCMP_ARCH_MIPS,  SCMP_ARCH_MIPSEL,
                                              SCMP_ARCH_PPC,  SCMP_ARCH_PPC64, SCMP_ARCH_PPC64LE,
                                              SCMP_ARCH_S390, SCMP_ARCH_S390X};
  for (const std::uint32_t architecture : kArchitectures) {
    EntryPoints entry_points(architecture);
    std::vector<EntryPoint> found;
    int calls = 0;
    // 4000 on MIPS, 0 on the others.
    const int base = ::seccomp_syscall_resolve_name_arch(architecture, "exit") - 1;
    for (int number = base; number < base + 1000; ++number) {
      const std::string& name = own_name_of(architecture, number);
      if (name.empty()) continue;
      // libseccomp's number of a call behind socketcall or ipc is negative.
      if (::seccomp_syscall_resolve_name_arch(architecture, name.c_str()) >= 0) continue;
      entry_points.find(name, found);
      const EntryPoint own{.number = static_cast<std::uint32_t>(number)};
      BOOST_TEST(std::ranges::count(found, own) == 1,
                 name << ", number " << number << " of architecture " << architecture);
      ++calls;
    }
    BOOST_TEST(calls >= 27);  // x86 and s390 have the fewest
  }
}

BOOST_AUTO_TEST_SUITE_END()
