#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ocirun::linux {

/// Instructions of classic BPF. Jumps are relative, so that a program can be put behind another.
using Program = std::vector<sock_filter>;

/// The longest conditional jump. BPF_JA jumps farther.
inline constexpr std::size_t kLongestJump = 255;

inline sock_filter statement(unsigned code, std::uint32_t k) {
  return {.code = static_cast<std::uint16_t>(code), .jt = 0, .jf = 0, .k = k};
}

inline sock_filter load(std::size_t offset_in_seccomp_data) {
  return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset_in_seccomp_data));
}

inline sock_filter jump_always(std::size_t distance) {
  return statement(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(distance));
}

/// `test` is BPF_JEQ, BPF_JGT, BPF_JGE or BPF_JSET. The distances count from the next instruction.
inline sock_filter jump(unsigned test, std::uint32_t k, std::size_t if_true, std::size_t if_false) {
  return {.code = static_cast<std::uint16_t>(BPF_JMP | BPF_K | test),
          .jt = static_cast<std::uint8_t>(if_true),
          .jf = static_cast<std::uint8_t>(if_false),
          .k = k};
}

inline sock_filter return_answer(std::uint32_t answer) {
  return statement(BPF_RET | BPF_K, answer);
}

inline void append(Program& program, const Program& more) {
  program.insert(program.end(), more.begin(), more.end());
}

/// x32 has the architecture token of x86-64, and this bit in its system call numbers.
inline constexpr std::uint32_t kX32Bit = 0x40000000;

}  // namespace ocirun::linux
