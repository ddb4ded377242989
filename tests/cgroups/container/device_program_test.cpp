#include "cgroups/container/device_program.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <ostream>
#include <stdexcept>

#include "cgroups/plan/device_rules.hpp"
#include "linux/base/unique_fd.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;

// Tests the BPF program for v2 with an interpreter for the few instructions that it uses. Its
// decisions are compared with config.md's rules for the list, and with what v1's kernel code makes
// of the lines that ocirun writes on v1.
namespace {

struct Request {
  char type;
  std::uint32_t major, minor;
  unsigned access;  // BPF_DEVCG_ACC_*
};

std::ostream& operator<<(std::ostream& out, const Request& r) {
  return out << r.type << ' ' << r.major << ':' << r.minor << " access " << r.access;
}

unsigned access_of(const DeviceRule& rule) {
  return (rule.read ? unsigned{BPF_DEVCG_ACC_READ} : 0) |
         (rule.write ? unsigned{BPF_DEVCG_ACC_WRITE} : 0) |
         (rule.mknod ? unsigned{BPF_DEVCG_ACC_MKNOD} : 0);
}

bool run(const std::vector<bpf_insn>& program, const Request& request) {
  const unsigned type = request.type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;
  const bpf_cgroup_dev_ctx context = {request.access << 16 | type, request.major, request.minor};
  std::array<std::uint32_t, 11> registers{};
  for (std::size_t at = 0; at < program.size(); ++at) {
    const bpf_insn& insn = program[at];
    const auto immediate = static_cast<std::uint32_t>(insn.imm);
    std::uint32_t& target = registers.at(insn.dst_reg);
    const auto jump = [&](bool condition) {
      if (condition) at += static_cast<std::size_t>(insn.off);
    };
    switch (insn.code) {
      case BPF_LDX | BPF_MEM | BPF_W:
        std::memcpy(&target, reinterpret_cast<const char*>(&context) + insn.off, sizeof target);
        break;
      case BPF_ALU | BPF_MOV | BPF_X:
        target = registers.at(insn.src_reg);
        break;
      case BPF_ALU | BPF_MOV | BPF_K:
        target = immediate;
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        target &= immediate;
        break;
      case BPF_ALU | BPF_RSH | BPF_K:
        target >>= immediate;
        break;
      case BPF_JMP32 | BPF_JNE | BPF_K:
        jump(target != immediate);
        break;
      case BPF_JMP32 | BPF_JEQ | BPF_K:
        jump(target == immediate);
        break;
      case BPF_JMP | BPF_JA:
        jump(true);
        break;
      case BPF_JMP | BPF_EXIT:
        return registers[0] != 0;
      default:
        throw std::runtime_error("an instruction that the test does not know");
    }
  }
  throw std::runtime_error("the program runs past its end");
}

bool is_number(const std::optional<std::int64_t>& wanted, std::uint32_t number) {
  return !wanted || *wanted < 0 || *wanted == std::int64_t{number};
}

/// of the rules that match, the last one decides, for each kind of access by itself; the
/// default devices come last (L-27), and nothing is allowed at first.
bool allowed_by_the_list(std::vector<DeviceRule> rules, const Request& request) {
  rules.insert(rules.end(), default_device_rules().begin(), default_device_rules().end());
  unsigned allowed = 0;
  for (const DeviceRule& rule : rules)
    if ((rule.type == 'a' || rule.type == request.type) && is_number(rule.major, request.major) &&
        is_number(rule.minor, request.minor))
      allowed = rule.allow ? allowed | access_of(rule) : allowed & ~access_of(rule);
  return (request.access & ~allowed) == 0;
}

/// What Linux' security/device_cgroup.c keeps of "devices.allow" and "devices.deny".
class V1 {
 public:
  explicit V1(const std::vector<Write>& writes) {
    for (const Write& write : writes) take(write.file == "devices.allow", write.value);
  }
  bool allows(const Request& request) const {
    return std::ranges::any_of(exceptions_, [&](const DeviceRule& e) {
             return e.type == request.type && is_number(e.major, request.major) &&
                    is_number(e.minor, request.minor) && (access_of(e) & request.access) != 0;
           }) != allow_;
  }

 private:
  void take(bool allow, const std::string& line) {
    if (line.starts_with('a')) {
      allow_ = allow;
      exceptions_.clear();
      return;
    }
    BOOST_REQUIRE(allow != allow_);  // the other direction would take an exception back
    const std::size_t colon = line.find(':'), blank = line.find(' ', colon);
    const auto number = [](const std::string& text) {
      return text == "*" ? std::nullopt : std::optional<std::int64_t>(std::stoll(text));
    };
    const std::string access = line.substr(blank);
    exceptions_.push_back({.allow = allow,
                           .type = line[0],
                           .major = number(line.substr(2, colon - 2)),
                           .minor = number(line.substr(colon + 1, blank - colon - 1)),
                           .read = access.contains('r'),
                           .write = access.contains('w'),
                           .mknod = access.contains('m')});
  }

  bool allow_ = true;
  std::vector<DeviceRule> exceptions_;
};

using Numbers = std::vector<std::optional<std::int64_t>>;

std::vector<DeviceRule> every_rule(const std::string& types, const Numbers& majors,
                                   const Numbers& minors, const std::vector<unsigned>& accesses) {
  std::vector<DeviceRule> rules;
  for (const bool allow : {false, true})
    for (const char type : types)
      for (const auto& major : majors)
        for (const auto& minor : minors)
          for (const unsigned access : accesses)
            rules.push_back({.allow = allow,
                             .type = type,
                             .major = major,
                             .minor = minor,
                             .read = (access & BPF_DEVCG_ACC_READ) != 0,
                             .write = (access & BPF_DEVCG_ACC_WRITE) != 0,
                             .mknod = (access & BPF_DEVCG_ACC_MKNOD) != 0});
  return rules;
}

const std::vector<Request>& every_request() {
  static const std::vector<Request> requests = [] {
    std::vector<Request> all;
    for (const char type : {'b', 'c'})
      for (const std::uint32_t major : {1U, 10U})
        for (const std::uint32_t minor : {3U, 11U})
          for (unsigned access = 1; access <= 7; ++access)
            all.push_back({type, major, minor, access});
    return all;
  }();
  return requests;
}

/// One check for each list: more would make the log larger than the test.
void compare(const std::vector<DeviceRule>& rules) {
  const std::vector<bpf_insn> program = device_program(rules).value();
  const Result<std::vector<Write>> lines = plan_device_rules_v1(rules);
  const std::optional<V1> v1 = lines ? std::optional<V1>(*lines) : std::nullopt;
  for (const Request& request : every_request()) {
    const bool allowed = run(program, request);
    if (allowed != allowed_by_the_list(rules, request)) BOOST_ERROR("the list: " << request);
    // v1 needs a single exception that contains all requested accesses. So only requests for one
    // access are compared.
    const bool one_bit = (request.access & (request.access - 1)) == 0;
    if (v1 && one_bit && v1->allows(request) != allowed) BOOST_ERROR("v1: " << request);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(device_programs)

BOOST_AUTO_TEST_CASE(one_rule_means_what_the_list_means)
{
  compare({});
  for (const DeviceRule& rule :
       every_rule("abc", {{}, -1, 1, 10}, {{}, -1, 3, 11}, {1, 2, 3, 4, 5, 6, 7}))
    compare({rule});
  BOOST_CHECK(true);
}

BOOST_AUTO_TEST_CASE(of_two_rules_the_last_that_matches_decides,
                     *boost::unit_test::label("exhaustive"))
{
  const auto rules = every_rule("abc", {{}, 1}, {{}, 11}, {1, 2, 6, 7});
  for (const DeviceRule& first : rules)
    for (const DeviceRule& second : rules) compare({first, second});
  BOOST_CHECK(true);
}

BOOST_AUTO_TEST_CASE(of_three_rules_too, *boost::unit_test::label("exhaustive"))
{
  const auto rules = every_rule("ac", {{}, 1}, {{}, 11}, {2, 7});
  for (const DeviceRule& first : rules)
    for (const DeviceRule& second : rules)
      for (const DeviceRule& third : rules) compare({first, second, third});
  BOOST_CHECK(true);
}

BOOST_AUTO_TEST_CASE(rules_that_decide_the_same_are_all_asked)
{
  const DeviceRule numbers[] = {{.major = 1, .minor = 3},  {.major = 1, .minor = 11},
                                {.major = 10, .minor = 3}, {.major = 10, .minor = 11},
                                {.major = {}, .minor = 3}, {.major = 10, .minor = {}}};
  for (const bool allow : {false, true})
    for (unsigned subset = 0; subset < 1U << std::size(numbers); ++subset) {
      std::vector<DeviceRule> rules = every_rule("a", {{}}, {{}}, {7});
      rules.resize(allow ? 1 : 2);  // all is denied, or all is allowed
      for (unsigned i = 0; i < std::size(numbers); ++i) {
        if ((subset >> i & 1) == 0) continue;
        rules.push_back(numbers[i]);
        rules.back().allow = allow;
        rules.back().type = 'c';
        rules.back().read = rules.back().write = true;
      }
      compare(rules);
    }
  BOOST_CHECK(true);
}

BOOST_AUTO_TEST_CASE(a_program_that_is_too_long_is_an_error) {
  std::vector<DeviceRule> rules;
  for (std::int64_t minor = 0; minor < 40'000; ++minor)
    rules.push_back({.allow = true, .type = 'c', .major = 300, .minor = minor, .read = true});
  const auto program = device_program(rules);
  BOOST_REQUIRE(!program.has_value());
  BOOST_TEST(program.error().number() == E2BIG);
}

// The time of the verifier is a part of each `create` on cgroup v2.
BOOST_AUTO_TEST_CASE(the_verifier_follows_few_instructions, *test::needs_root()) {
  const std::vector<bpf_insn> program = device_program({}).value();
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  load.expected_attach_type = BPF_CGROUP_DEVICE;
  load.insns = reinterpret_cast<std::uintptr_t>(program.data());
  load.insn_cnt = static_cast<std::uint32_t>(program.size());
  load.license = reinterpret_cast<std::uintptr_t>("Apache-2.0");
  const UniqueFd loaded(static_cast<int>(::syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof load)));
  BOOST_REQUIRE(bool(loaded));
  bpf_prog_info info{};
  bpf_attr ask{};
  ask.info.bpf_fd = static_cast<std::uint32_t>(loaded.get());
  ask.info.info_len = sizeof info;
  ask.info.info = reinterpret_cast<std::uintptr_t>(&info);
  BOOST_REQUIRE(::syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &ask, sizeof ask) == 0);
  if (info.verified_insns == 0) return;   // before Linux 5.16 the kernel does not count
  BOOST_TEST(info.verified_insns <= 75);  // 65 on Linux 6.18; tests of each rule by itself: 236
}

BOOST_AUTO_TEST_CASE(numbers_that_no_device_has_match_none)
{
  for (const std::int64_t number : {std::int64_t{1} << 32, (std::int64_t{1} << 32) + 1}) {
    const std::vector<DeviceRule> rules =
        every_rule("c", {number}, {{}}, {BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE});
    BOOST_TEST(!run(device_program(rules).value(), {'c', 1, 11, BPF_DEVCG_ACC_READ}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
