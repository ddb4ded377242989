#include "linux/seccomp/assemble.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

// Each architecture has a program of its own: libseccomp takes 2 ms for one, but 20 ms for three in
// one filter, because the time grows faster than the filter. The instructions before the programs
// choose the program of the call's architecture.
//
// These instructions also answer system calls that are newer than the profile, whose author could
// not list them. A newer libc tries newer system calls and falls back to older ones on ENOSYS, but
// not on the EPERM (or the kill) of a default action: glibc's clone3 and faccessat2 broke programs
// in this way. So a number above all numbers that the profile names for the architecture gets
// ENOSYS, as from a kernel without that call.
//
//       ld   arch
//       jeq  AUDIT_ARCH_X86_64, 0, next architecture
//       ld   nr
//       jge  451, 0, +2             a range of newer numbers ...
//       jgt  0x3fffffff, +1, 0
//       ret  ERRNO(ENOSYS)
//       ...                         ... and another
//       jge  0x40000000, 0, +1      x32 has the token of x86-64, and a bit in its numbers
//       ja   the program of x32
//       ja   the program of x86-64
//       jeq  AUDIT_ARCH_I386 ...
//   the program of x86-64
//   the program of i386 ...
//
// All conditional jumps stay within the few lines of one architecture, below their range of 255;
// only `ja`, with 32 bits, jumps farther. libseccomp's programs begin by loading what they need, so
// the accumulator may hold anything. The kernel's cache of always-allowed numbers (Linux 5.11)
// understands each of these instructions.

namespace ocirun::linux {
namespace {

constexpr std::uint32_t kX32Bit = 0x40000000;
// Numbers 512 to 547 are x32's variants of older calls; its newer calls have the common numbers.
constexpr std::uint32_t kX32OnlyFirst = 512;
constexpr std::uint32_t kX32OnlyLast = 547;
// From here on are ARM's private calls (set_tls ...), which do not grow with the kernel.
constexpr std::uint32_t kArmPrivate = 0x0F0000;

// Whether the default action refuses a system call in a way that a libc does not understand as
// "absent".
bool refuses(const SeccompProfile& profile) {
  switch (profile.default_action) {
    case SeccompAction::kKillThread:
    case SeccompAction::kKillProcess:
    case SeccompAction::kTrap:
      return true;
    case SeccompAction::kErrno:
      return profile.default_errno_ret.value_or(EPERM) != ENOSYS;
    case SeccompAction::kTrace:   // a tracer can handle a new call itself
    case SeccompAction::kNotify:  // and so can a listener
    case SeccompAction::kAllow:
    case SeccompAction::kLog:
      return false;
  }
  return false;
}

// The end of the numbers on `arch` that the kernel assigns in order.
std::uint32_t table_end(std::uint32_t arch) {
  if (arch == SCMP_ARCH_X32) return kX32OnlyFirst;
  if (arch == SCMP_ARCH_ARM) return kArmPrivate;
  return kX32Bit;
}

// The greatest number in the table of `arch` that the profile names; -1 when it names none.
std::int64_t greatest_number(const SeccompProfile& profile, std::uint32_t arch) {
  const std::uint32_t base = arch == SCMP_ARCH_X32 ? kX32Bit : 0;
  const auto index_of = [&](const char* name) {
    const int number = ::seccomp_syscall_resolve_name_arch(arch, name);
    // -1 for an unknown call, and for one that this architecture lacks (a negative number).
    const std::int64_t index = number < 0 ? -1 : number - std::int64_t{base};
    return index < table_end(arch) ? index : -1;
  };
  std::int64_t greatest = -1;
  for (const SeccompRule& rule : profile.rules)
    for (const std::string& name : rule.names)
      greatest = std::max(greatest, index_of(name.c_str()));
  // At least seccomp(2), Linux 3.17: a short allow list denies older calls on purpose.
  return greatest < 0 ? -1 : std::max(greatest, index_of("seccomp"));
}

// The value of seccomp_data.arch.
std::uint32_t token_of(std::uint32_t architecture) {
  return architecture == SCMP_ARCH_X32 ? AUDIT_ARCH_X86_64 : architecture;
}

sock_filter statement(unsigned code, std::uint32_t k) {
  return {.code = static_cast<std::uint16_t>(code), .jt = 0, .jf = 0, .k = k};
}

sock_filter jump(unsigned test, std::uint32_t k, std::uint8_t if_true, std::uint8_t if_false) {
  return {.code = static_cast<std::uint16_t>(BPF_JMP | BPF_K | test),
          .jt = if_true,
          .jf = if_false,
          .k = k};
}

// The instructions before the programs. Until link(), each `ja` holds the index of a program.
class Dispatch {
 public:
  Dispatch() { load(offsetof(seccomp_data, arch)); }

  void begin(std::uint32_t token) {
    check_ = code_.size();
    code_.push_back(jump(BPF_JEQ, token, 0, 0));
    load(offsetof(seccomp_data, nr));
  }
  void answer_enosys(const NewerSyscalls& range) {
    code_.push_back(jump(BPF_JGE, range.first, 0, 2));
    code_.push_back(jump(BPF_JGT, range.last, 1, 0));
    code_.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
  }
  void go_to(std::size_t program) {
    leaves_.push_back({code_.size(), program});
    code_.push_back(statement(BPF_JMP | BPF_JA, 0));
  }
  void go_to_if_x32(std::size_t program) {
    code_.push_back(jump(BPF_JGE, kX32Bit, 0, 1));
    go_to(program);
  }
  void end() { code_[check_].jf = static_cast<std::uint8_t>(code_.size() - check_ - 1); }

  std::vector<sock_filter> link(std::span<const ArchitectureProgram> programs) && {
    std::vector<std::size_t> starts;
    std::size_t size = code_.size();
    for (const ArchitectureProgram& part : programs) {
      starts.push_back(size);
      size += part.program.size();
    }
    for (const auto& [place, program] : leaves_)
      code_[place].k = static_cast<std::uint32_t>(starts[program] - place - 1);
    code_.reserve(size);
    for (const ArchitectureProgram& part : programs)
      code_.insert(code_.end(), part.program.begin(), part.program.end());
    return std::move(code_);
  }

 private:
  struct Leave {
    std::size_t place;
    std::size_t program;
  };
  void load(std::size_t offset) {
    code_.push_back(statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  std::vector<sock_filter> code_;
  std::vector<Leave> leaves_;
  std::size_t check_ = 0;
};

}  // namespace

std::vector<NewerSyscalls> newer_syscalls(const SeccompProfile& profile,
                                          std::span<const std::uint32_t> architectures) {
  std::vector<NewerSyscalls> newer;
  if (!refuses(profile)) return newer;
  const auto add = [&](std::uint32_t architecture, std::uint32_t first, std::uint32_t last) {
    if (first <= last) newer.push_back({architecture, first, last});
  };
  for (const std::uint32_t architecture : architectures) {
    const std::int64_t greatest = greatest_number(profile, architecture);
    if (greatest < 0) continue;  // the age of the profile is unknown
    const auto first = static_cast<std::uint32_t>(greatest) + 1;
    const std::uint32_t last = table_end(architecture) - 1;
    if (architecture == SCMP_ARCH_X32) {
      add(architecture, kX32Bit | first, kX32Bit | last);
      add(architecture, kX32Bit | (kX32OnlyLast + 1), 0x7FFFFFFF);
    } else {
      add(architecture, first, last);
    }
  }
  return newer;
}

std::vector<sock_filter> assemble_seccomp(std::span<const ArchitectureProgram> programs,
                                          std::span<const NewerSyscalls> newer) {
  if (programs.size() == 1 && newer.empty()) return programs.front().program;
  Dispatch dispatch;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const std::uint32_t token = token_of(programs[i].architecture);
    const auto shares_token = [&](const ArchitectureProgram& part) {
      return token_of(part.architecture) == token;
    };
    // The first program of a token handles that token completely: on x86-64 the second one is
    // x32's, or the native one.
    const auto first = std::ranges::find_if(programs, shares_token);
    if (&*first != &programs[i]) continue;
    dispatch.begin(token);
    for (const NewerSyscalls& range : newer)
      if (token_of(range.architecture) == token) dispatch.answer_enosys(range);
    for (std::size_t j = i + 1; j < programs.size(); ++j)
      if (programs[j].architecture == SCMP_ARCH_X32 && shares_token(programs[j]))
        dispatch.go_to_if_x32(j);
    dispatch.go_to(i);
    dispatch.end();
  }
  return std::move(dispatch).link(programs);
}

}  // namespace ocirun::linux
