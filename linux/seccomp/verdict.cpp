#include <linux/seccomp.h>
#include <seccomp.h>

#include <cstddef>
#include <optional>

#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {
namespace {

/// A 32-bit word of the kernel's seccomp_data. Unknown (nothing) for arguments and the instruction
/// pointer.
std::optional<std::uint32_t> known_word(std::uint32_t offset, int call) {
  if (offset == offsetof(seccomp_data, nr)) return static_cast<std::uint32_t>(call);
  if (offset == offsetof(seccomp_data, arch)) return ::seccomp_arch_native();
  return std::nullopt;
}

/// Whether a jump on `constant` is taken. Nothing for an instruction that is not such a jump.
std::optional<bool> compare(std::uint16_t code, std::uint32_t value, std::uint32_t constant) {
  switch (code) {
    case BPF_JMP | BPF_JEQ | BPF_K:
      return value == constant;
    case BPF_JMP | BPF_JGT | BPF_K:
      return value > constant;
    case BPF_JMP | BPF_JGE | BPF_K:
      return value >= constant;
    case BPF_JMP | BPF_JSET | BPF_K:
      return (value & constant) != 0;
    default:
      return std::nullopt;
  }
}

/// What the filter returns for `call`. Understands the instructions that libseccomp and
/// assemble_seccomp() generate. Nothing where it meets another one, or a comparison of an argument.
std::optional<std::uint32_t> answer_to(const SeccompFilter& filter, int call) {
  std::optional<std::uint32_t> accumulator;
  for (std::size_t next = 0; next < filter.program.size();) {
    const sock_filter& instruction = filter.program[next++];
    switch (instruction.code) {
      case BPF_RET | BPF_K:
        return instruction.k;
      case BPF_JMP | BPF_JA:
        next += instruction.k;
        break;
      case BPF_LD | BPF_W | BPF_ABS:
        accumulator = known_word(instruction.k, call);
        break;
      default: {
        if (!accumulator) return std::nullopt;
        const auto taken = compare(instruction.code, *accumulator, instruction.k);
        if (!taken) return std::nullopt;
        next += *taken ? instruction.jt : instruction.jf;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Verdict judge(const SeccompFilter& filter, int call) {
  const auto answer = answer_to(filter, call);
  if (!answer) return Verdict::kUnknown;
  switch (*answer & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_KILL_PROCESS:
    case SECCOMP_RET_KILL_THREAD:
    case SECCOMP_RET_TRAP:
      return Verdict::kEndsCaller;
    case SECCOMP_RET_ERRNO:
      return Verdict::kRefusesCall;
    default:
      return Verdict::kUnknown;
  }
}

bool certainly_allows(const SeccompFilter& filter, int call) {
  const auto answer = answer_to(filter, call);
  if (!answer) return false;
  const std::uint32_t action = *answer & SECCOMP_RET_ACTION_FULL;
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

}  // namespace ocirun::linux
