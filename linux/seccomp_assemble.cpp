#include "linux/seccomp_enosys.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

// A profile lists what its author knew. A libc that is newer tries system calls that are newer too,
// and falls back to older ones on ENOSYS, but not on the EPERM (or the kill) of a default action:
// glibc's clone3 and faccessat2 broke programs that way. So a number above all those which the
// profile names for that architecture is answered as a kernel without it would.
//
// What is prepended reads (for x86-64, where x32 shares the token and sets a bit in the number):
//
//       ld   arch
//       jeq  AUDIT_ARCH_X86_64, 0, next architecture
//       ld   nr
//       jge  451, 0, +2             a range of newer numbers ...
//       jgt  0x3fffffff, +1, 0
//       ret  ERRNO(ENOSYS)
//       ...                         ... and another
//       ja   the program
//       jeq  AUDIT_ARCH_I386 ...
//   the program
//
// All conditional jumps stay within one architecture's few lines, below the 255 that they reach;
// only `ja`, with 32 bits, leaves them. The program starts by loading what it needs, as
// libseccomp's all do, so it does not mind what the accumulator holds. The kernel's cache of
// always-allowed numbers (Linux 5.11) understands each of these instructions.

namespace ocirun::linux {
namespace {

constexpr std::uint32_t kX32Bit = 0x40000000;
// Numbers 512 to 547 are x32's variants of older calls; its newer calls have the common numbers.
constexpr std::uint32_t kX32OnlyFirst = 512;
constexpr std::uint32_t kX32OnlyLast = 547;
// ARM's private calls (set_tls ...) live there and do not grow with the kernel.
constexpr std::uint32_t kArmPrivate = 0x0F0000;

bool refuses(SeccompAction action) {
  switch (action) {
    case SeccompAction::kKillThread:
    case SeccompAction::kKillProcess:
    case SeccompAction::kTrap:
    case SeccompAction::kErrno:
      return true;
    case SeccompAction::kTrace:   // a tracer can answer for a call that is new to it
    case SeccompAction::kNotify:  // and so can a listener
    case SeccompAction::kAllow:
    case SeccompAction::kLog:
      return false;
  }
  return false;
}

// The first number that the kernel's growing table cannot reach on `arch`.
std::uint32_t table_end(std::uint32_t arch) {
  if (arch == SCMP_ARCH_X32) return kX32OnlyFirst;
  if (arch == SCMP_ARCH_ARM) return kArmPrivate;
  return kX32Bit;
}

// -1 when the profile names none.
std::int64_t greatest_number(const SeccompProfile& profile, std::uint32_t arch) {
  const std::uint32_t base = arch == SCMP_ARCH_X32 ? kX32Bit : 0;
  std::int64_t greatest = -1;
  for (const SeccompRule& rule : profile.rules)
    for (const std::string& name : rule.names) {
      const int number = ::seccomp_syscall_resolve_name_arch(arch, name.c_str());
      if (number < 0) continue;  // unknown, or one that this architecture lacks
      const std::int64_t index = number - std::int64_t{base};
      if (index < table_end(arch)) greatest = std::max(greatest, index);
    }
  return greatest;
}

}  // namespace

std::vector<NewerSyscalls> newer_syscalls(const SeccompProfile& profile,
                                          std::span<const std::uint32_t> architectures) {
  std::vector<NewerSyscalls> newer;
  if (!refuses(profile.default_action)) return newer;
  for (const std::uint32_t arch : architectures) {
    const std::int64_t greatest = greatest_number(profile, arch);
    if (greatest < 0) continue;  // nothing tells how old the profile is
    const auto first = static_cast<std::uint32_t>(greatest) + 1;
    if (arch == SCMP_ARCH_X32) {
      newer.push_back({AUDIT_ARCH_X86_64, kX32Bit | first, kX32Bit | (kX32OnlyFirst - 1)});
      newer.push_back({AUDIT_ARCH_X86_64, kX32Bit | (kX32OnlyLast + 1), 0x7FFFFFFF});
    } else {
      newer.push_back({arch, first, table_end(arch) - 1});
    }
  }
  std::erase_if(newer, [](const NewerSyscalls& range) { return range.first > range.last; });
  // The ranges of one token go together, x86-64 and x32 among them.
  std::ranges::stable_sort(newer, {}, &NewerSyscalls::audit_arch);
  return newer;
}

std::vector<sock_filter> with_enosys(std::span<const NewerSyscalls> newer,
                                     std::vector<sock_filter> program) {
  if (newer.empty()) return program;
  std::vector<sock_filter> stub;
  std::vector<std::size_t> leaves;  // where `ja` to the program stands
  stub.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
  for (std::size_t i = 0; i < newer.size();) {
    const std::uint32_t arch = newer[i].audit_arch;
    const std::size_t check = stub.size();
    stub.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arch, 0, 0));
    stub.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    for (; i < newer.size() && newer[i].audit_arch == arch; ++i) {
      stub.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, newer[i].first, 0, 2));
      stub.push_back(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, newer[i].last, 1, 0));
      stub.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
    }
    leaves.push_back(stub.size());
    stub.push_back(BPF_STMT(BPF_JMP | BPF_JA, 0));
    stub[check].jf = static_cast<std::uint8_t>(stub.size() - check - 1);
  }
  for (const std::size_t leave : leaves)
    stub[leave].k = static_cast<std::uint32_t>(stub.size() - leave - 1);
  stub.insert(stub.end(), program.begin(), program.end());
  return stub;
}

}  // namespace ocirun::linux
