#include "cgroups/container/devices_bpf.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>

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
constexpr bpf_insn jump_over(int condition, std::uint8_t left, std::int32_t right,
                             std::size_t instructions) {
  return instruction(BPF_JMP32 | condition | BPF_K, left, 0,
                     static_cast<std::int16_t>(instructions), right);
}
constexpr bpf_insn leave() { return instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0); }

std::int32_t access_of(const DeviceRule& rule) {
  return (rule.read ? BPF_DEVCG_ACC_READ : 0) | (rule.write ? BPF_DEVCG_ACC_WRITE : 0) |
         (rule.mknod ? BPF_DEVCG_ACC_MKNOD : 0);
}

bool is_number_of_a_device(std::optional<std::int64_t> number) {
  return !number || *number <= std::numeric_limits<std::uint32_t>::max();
}

/// The instructions for a request whose device matches the rule. While some accesses are undecided,
/// the program continues with the next rule.
std::vector<bpf_insn> decision(const DeviceRule& rule) {
  const std::int32_t access = access_of(rule);
  // A rule for all accesses decides at once, so that the verifier has fewer paths to follow.
  if (access == kFullAccess) return {set(kResult, rule.allow ? 1 : 0), leave()};
  if (rule.allow)
    return {mask(kUndecided, ~access), jump_over(BPF_JNE, kUndecided, 0, 2), set(kResult, 1),
            leave()};
  return {copy(kResult, kUndecided), mask(kResult, access), jump_over(BPF_JEQ, kResult, 0, 2),
          set(kResult, 0), leave()};
}

void append_rule(std::vector<bpf_insn>& program, const DeviceRule& rule) {
  if (!is_number_of_a_device(rule.major) || !is_number_of_a_device(rule.minor)) return;
  const std::vector<bpf_insn> body = decision(rule);
  std::vector<std::pair<std::uint8_t, std::int32_t>> conditions = {
      {kType, rule.type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR}};
  if (rule.major) conditions.emplace_back(kMajor, static_cast<std::int32_t>(*rule.major));
  if (rule.minor) conditions.emplace_back(kMinor, static_cast<std::int32_t>(*rule.minor));
  std::size_t rest = conditions.size() + body.size();
  for (const auto& [value, wanted] : conditions)
    program.push_back(jump_over(BPF_JNE, value, wanted, --rest));
  program.insert(program.end(), body.begin(), body.end());
}

Result<int> bpf(int command, bpf_attr& attributes, const char* what) {
  const long result = ::syscall(SYS_bpf, command, &attributes, sizeof attributes);
  if (result < 0) return fail(errno, "{}", what);
  return static_cast<int>(result);
}

std::uint64_t address_of(const void* pointer) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

Result<UniqueFd> load_program(const std::vector<bpf_insn>& program) {
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  attributes.expected_attach_type = BPF_CGROUP_DEVICE;
  attributes.insns = address_of(program.data());
  attributes.insn_cnt = static_cast<std::uint32_t>(program.size());
  attributes.license = address_of("Apache-2.0");  // the program calls no GPL-only helper
  std::memcpy(attributes.prog_name, "ocirun_devices", sizeof "ocirun_devices");
  TRY_ASSIGN(const int fd, bpf(BPF_PROG_LOAD, attributes, "load the device program"));
  return UniqueFd(fd);
}

/// The programs that are attached to this cgroup itself, not to its ancestors.
Result<std::vector<UniqueFd>> attached_programs(Fd cgroup) {
  std::array<std::uint32_t, 64> ids{};  // the kernel's limit for one cgroup
  bpf_attr query{};
  query.query.target_fd = static_cast<std::uint32_t>(cgroup.value);
  query.query.attach_type = BPF_CGROUP_DEVICE;
  query.query.prog_ids = address_of(ids.data());
  query.query.prog_cnt = ids.size();
  TRY(bpf(BPF_PROG_QUERY, query, "query device programs"));
  std::vector<UniqueFd> programs;
  for (std::uint32_t i = 0; i < query.query.prog_cnt; ++i) {
    bpf_attr by_id{};
    by_id.prog_id = ids[i];
    TRY_ASSIGN(const int fd, bpf(BPF_PROG_GET_FD_BY_ID, by_id, "open a device program"));
    programs.emplace_back(fd);
  }
  return programs;
}

Result<void> attach_program(Fd cgroup, Fd program) {
  TRY_ASSIGN(const std::vector<UniqueFd> old, attached_programs(cgroup));
  bpf_attr attributes{};
  attributes.target_fd = static_cast<std::uint32_t>(cgroup.value);
  attributes.attach_bpf_fd = static_cast<std::uint32_t>(program.value);
  attributes.attach_type = BPF_CGROUP_DEVICE;
  attributes.attach_flags = BPF_F_ALLOW_MULTI;
  if (old.size() == 1) {  // BPF_F_REPLACE exists since Linux 5.6
    attributes.attach_flags |= BPF_F_REPLACE;
    attributes.replace_bpf_fd = static_cast<std::uint32_t>(old.front().get());
  }
  TRY(bpf(BPF_PROG_ATTACH, attributes, "attach the device program"));
  // The kernel allows an access only if all attached programs allow the access. The old programs
  // are detached after the new program is attached, so that no forbidden access succeeds meanwhile.
  for (std::size_t i = 0; old.size() > 1 && i < old.size(); ++i) {
    bpf_attr detach{};
    detach.target_fd = static_cast<std::uint32_t>(cgroup.value);
    detach.attach_bpf_fd = static_cast<std::uint32_t>(old[i].get());
    detach.attach_type = BPF_CGROUP_DEVICE;
    TRY(bpf(BPF_PROG_DETACH, detach, "detach an old device program"));
  }
  return {};
}

}  // namespace

std::vector<bpf_insn> device_program(std::span<const DeviceRule> rules) {
  const std::vector<DeviceRule> complete = complete_rules(rules);
  std::vector<bpf_insn> program = {
      // access_type has the device's type in its low 16 bits and the access in its high 16 bits.
      load(kType, offsetof(bpf_cgroup_dev_ctx, access_type)),
      copy(kUndecided, kType),
      mask(kType, 0xffff),
      shift_right(kUndecided, 16),
      load(kMajor, offsetof(bpf_cgroup_dev_ctx, major)),
      load(kMinor, offsetof(bpf_cgroup_dev_ctx, minor)),
  };
  for (std::size_t i = complete.size(); i-- > 1;) append_rule(program, complete[i]);
  // The first rule of a complete list is for all devices.
  program.push_back(set(kResult, complete.front().allow ? 1 : 0));
  program.push_back(leave());
  return program;
}

Result<void> attach_device_program(const Directory& cgroup, std::span<const DeviceRule> rules) {
  const auto attach = [&]() -> Result<void> {
    Result<UniqueFd> program = load_program(device_program(rules));
    if (!program && program.error().number() == E2BIG)
      program.error().within("too many rules for the kernel to verify");
    if (!program) return std::unexpected(std::move(program).error());
    TRY_ASSIGN(const UniqueFd directory, cgroup.open_file(".", O_RDONLY | O_DIRECTORY));
    return attach_program(directory, *program);
  };
  return within(attach(), "/linux/resources/devices: cgroup {}", cgroup.path());
}

}  // namespace ocirun::cgroups
