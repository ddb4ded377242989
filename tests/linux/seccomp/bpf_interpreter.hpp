#pragma once

// Runs a seccomp filter on a made-up system call, so that tests can ask about architectures that
// this machine does not have. It knows what seccomp allows of classic BPF, as far as libseccomp and
// ocirun use it.

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace ocirun::test {

inline std::uint32_t run_filter(const std::vector<sock_filter>& program, const seccomp_data& data) {
  std::uint32_t accumulator = 0;
  std::uint32_t scratch[BPF_MEMWORDS] = {};
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& line = program[at];
    const auto branch = [&](bool taken) { at += taken ? line.jt : line.jf; };
    switch (line.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (line.k + sizeof accumulator > sizeof data) throw std::runtime_error("load out of data");
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + line.k,
                    sizeof accumulator);
        break;
      case BPF_LD | BPF_MEM:
        accumulator = scratch[line.k];
        break;
      case BPF_ST:
        scratch[line.k] = accumulator;
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= line.k;
        break;
      case BPF_JMP | BPF_JA:
        at += line.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        branch(accumulator == line.k);
        break;
      case BPF_JMP | BPF_JGT | BPF_K:
        branch(accumulator > line.k);
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        branch(accumulator >= line.k);
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        branch((accumulator & line.k) != 0);
        break;
      case BPF_RET | BPF_K:
        return line.k;
      default:
        throw std::runtime_error("an instruction that seccomp filters do not have");
    }
  }
  throw std::runtime_error("the filter ends without an answer");
}

}  // namespace ocirun::test
