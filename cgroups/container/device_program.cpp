// The kernel's verifier follows each path through the program at each load, so the program has few
// paths. The program branches by the type of the device once. Neighbouring rules with the same
// accesses and the same answer form a group. A group compares each major number once, then the
// minor numbers of that major number, and all matches jump to one decision. The verifier first
// follows the path on which nothing matches. Each other path soon joins a path that the verifier
// knows.

#include "cgroups/container/device_program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "cgroups/plan/device_rules.hpp"

namespace ocirun::cgroups {
namespace {

// BPF registers. kUndecided holds the requested accesses that no rule has decided yet.
constexpr std::uint8_t kResult = BPF_REG_0, kContext = BPF_REG_1, kType = BPF_REG_2,
                       kUndecided = BPF_REG_3, kMajor = BPF_REG_4, kMinor = BPF_REG_5;
constexpr std::int32_t kFullAccess = BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE | BPF_DEVCG_ACC_MKNOD;

constexpr bpf_insn instruction(int code, std::uint8_t destination, std::uint8_t source,
                               std::int16_t offset, std::int32_t immediate) {
  bpf_insn insn{};
  insn.code = static_cast<std::uint8_t>(code);
  insn.dst_reg = destination & 0xf;
  insn.src_reg = source & 0xf;
  insn.off = offset;
  insn.imm = immediate;
  return insn;
}
constexpr bpf_insn load(std::uint8_t destination, std::size_t offset) {
  return instruction(BPF_LDX | BPF_MEM | BPF_W, destination, kContext,
                     static_cast<std::int16_t>(offset), 0);
}
constexpr bpf_insn copy(std::uint8_t destination, std::uint8_t source) {
  return instruction(BPF_ALU | BPF_MOV | BPF_X, destination, source, 0, 0);
}
constexpr bpf_insn set(std::uint8_t destination, std::int32_t value) {
  return instruction(BPF_ALU | BPF_MOV | BPF_K, destination, 0, 0, value);
}
constexpr bpf_insn mask(std::uint8_t destination, std::int32_t bits) {
  return instruction(BPF_ALU | BPF_AND | BPF_K, destination, 0, 0, bits);
}
constexpr bpf_insn shift_right(std::uint8_t destination, std::int32_t bits) {
  return instruction(BPF_ALU | BPF_RSH | BPF_K, destination, 0, 0, bits);
}
constexpr bpf_insn leave() { return instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0); }

/// The jumps that lead to one place of the program.
using Label = std::vector<std::size_t>;

/// Instructions, and jumps whose targets are not known yet.
class Program {
 public:
  void add(bpf_insn insn) { instructions_.push_back(insn); }
  void jump(Label& to) {
    to.push_back(instructions_.size());
    add(instruction(BPF_JMP | BPF_JA, 0, 0, 0, 0));
  }
  void jump_if(int condition, std::uint8_t left, std::int64_t right, Label& to) {
    to.push_back(instructions_.size());
    add(instruction(BPF_JMP32 | condition | BPF_K, left, 0, 0, static_cast<std::int32_t>(right)));
  }
  /// The next instruction is the target of the jumps.
  void land(const Label& label) {
    for (const std::size_t jump : label) {
      const std::size_t over = instructions_.size() - jump - 1;
      is_too_long_ = is_too_long_ || over > std::numeric_limits<std::int16_t>::max();
      instructions_[jump].off = static_cast<std::int16_t>(over);
    }
  }
  void answer(bool allow) {
    add(set(kResult, allow ? 1 : 0));
    add(leave());
  }
  Result<std::vector<bpf_insn>> take() {
    if (is_too_long_) return fail(E2BIG, "jump over more than 32767 instructions");
    return std::move(instructions_);
  }

 private:
  std::vector<bpf_insn> instructions_;
  bool is_too_long_ = false;
};

std::int32_t access_of(const DeviceRule& rule) {
  return (rule.read ? BPF_DEVCG_ACC_READ : 0) | (rule.write ? BPF_DEVCG_ACC_WRITE : 0) |
         (rule.mknod ? BPF_DEVCG_ACC_MKNOD : 0);
}

bool is_number_of_a_device(std::optional<std::int64_t> number) {
  return !number || *number <= std::numeric_limits<std::uint32_t>::max();
}

bool can_match(const DeviceRule& rule, char type) {
  return rule.type == type && access_of(rule) != 0 && is_number_of_a_device(rule.major) &&
         is_number_of_a_device(rule.minor);
}

bool decide_the_same(const DeviceRule& a, const DeviceRule& b) {
  return a.allow == b.allow && access_of(a) == access_of(b);
}

/// Applies `rule` to a request whose device matches. If the rule leaves some accesses undecided,
/// the program continues after these instructions.
void add_decision(Program& program, const DeviceRule& rule) {
  const std::int32_t access = access_of(rule);
  if (access == kFullAccess) return program.answer(rule.allow);
  Label undecided;
  if (rule.allow) {
    program.add(mask(kUndecided, ~access));
    program.jump_if(BPF_JNE, kUndecided, 0, undecided);
  } else {
    program.add(copy(kResult, kUndecided));
    program.add(mask(kResult, access));
    program.jump_if(BPF_JEQ, kResult, 0, undecided);
  }
  program.answer(rule.allow);
  program.land(undecided);
}

/// Jumps to `matched` if one of `rules` has the device's numbers, otherwise to `unmatched`. Each of
/// `rules` has a major or a minor number.
void add_tests(Program& program, std::span<const DeviceRule> rules, Label& matched,
               Label& unmatched) {
  struct Major {
    Label found;
    std::vector<std::int64_t> minors;
  };
  std::map<std::int64_t, Major> majors;
  for (const DeviceRule& rule : rules) {
    if (rule.major && rule.minor)
      majors[*rule.major].minors.push_back(*rule.minor);
    else if (rule.major)
      program.jump_if(BPF_JEQ, kMajor, *rule.major, matched);
    else
      program.jump_if(BPF_JEQ, kMinor, *rule.minor, matched);
  }
  for (auto& [number, major] : majors) program.jump_if(BPF_JEQ, kMajor, number, major.found);
  program.jump(unmatched);
  for (const auto& [number, major] : majors) {
    program.land(major.found);
    for (const std::int64_t minor : major.minors) program.jump_if(BPF_JEQ, kMinor, minor, matched);
    program.jump(unmatched);
  }
}

/// Adds the tests and the decision of `rules`. All of `rules` decide the same, so their order does
/// not matter. Returns whether the program ends here for every device of the type.
bool add_group(Program& program, std::span<const DeviceRule> rules) {
  const auto is_for_all = [](const DeviceRule& rule) { return !rule.major && !rule.minor; };
  if (std::ranges::any_of(rules, is_for_all)) {
    add_decision(program, rules.front());
    return access_of(rules.front()) == kFullAccess;
  }
  Label matched, unmatched;
  add_tests(program, rules, matched, unmatched);
  program.land(matched);
  add_decision(program, rules.front());
  program.land(unmatched);
  return false;
}

/// Adds the rules for the devices of one type, from the last rule to the first. The first rule of
/// `complete` is for all devices, and gives the answer where no other rule has decided.
void add_type(Program& program, std::span<const DeviceRule> complete, char type) {
  std::vector<DeviceRule> rules;
  std::ranges::copy_if(complete.subspan(1), std::back_inserter(rules),
                       [&](const DeviceRule& rule) { return can_match(rule, type); });
  std::ranges::reverse(rules);
  for (auto begin = rules.begin(); begin != rules.end();) {
    const auto end = std::find_if_not(
        begin, rules.end(), [&](const DeviceRule& rule) { return decide_the_same(rule, *begin); });
    // The verifier refuses instructions that no path reaches.
    if (add_group(program, std::span(begin, end))) return;
    begin = end;
  }
  program.answer(complete.front().allow);
}

}  // namespace

Result<std::vector<bpf_insn>> device_program(std::span<const DeviceRule> rules) {
  const std::vector<DeviceRule> complete = complete_rules(rules);
  Program program;
  // access_type has the device's type in its low 16 bits and the access in its high 16 bits.
  program.add(load(kType, offsetof(bpf_cgroup_dev_ctx, access_type)));
  program.add(copy(kUndecided, kType));
  program.add(mask(kType, 0xffff));
  program.add(shift_right(kUndecided, 16));
  program.add(load(kMajor, offsetof(bpf_cgroup_dev_ctx, major)));
  program.add(load(kMinor, offsetof(bpf_cgroup_dev_ctx, minor)));
  Label block, character;
  program.jump_if(BPF_JEQ, kType, BPF_DEVCG_DEV_BLOCK, block);
  program.jump_if(BPF_JEQ, kType, BPF_DEVCG_DEV_CHAR, character);
  program.answer(complete.front().allow);
  program.land(block);
  add_type(program, complete, 'b');
  program.land(character);
  add_type(program, complete, 'c');
  return program.take();
}

}  // namespace ocirun::cgroups
