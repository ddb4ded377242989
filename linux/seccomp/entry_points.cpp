#include "linux/seccomp/entry_points.hpp"

#include <seccomp.h>

#include <cstdlib>
#include <memory>

namespace ocirun::linux {
namespace {

// libseccomp's numbers for calls behind socketcall are -101 … -120, behind ipc -201 … -224.
constexpr int kFirstOfIpc = -200;
constexpr int kCallsPerMultiplexer = 100;

// The kernel looks at these bits of the first argument: socketcall takes an int, and the upper
// half of ipc's argument is a version.
constexpr std::uint64_t kSocketCallBits = 0xFFFFFFFF;
constexpr std::uint64_t kIpcBits = 0xFFFF;

// MIPS numbers its calls from 4000 on, the other architectures with socketcall from 0 on.
constexpr int kSocketCall = 102;
constexpr int kNumbersAsked = 600;

}  // namespace

std::vector<EntryPoint> EntryPoints::of(const std::string& name) {
  const int number = ::seccomp_syscall_resolve_name_arch(architecture_, name.c_str());
  if (number >= 0) return {{static_cast<std::uint32_t>(number), std::nullopt}};
  const int multiplexer = ::seccomp_syscall_resolve_name_rewrite(architecture_, name.c_str());
  if (multiplexer < 0) return {};
  const Condition selector{.argument = 0,
                           .op = SeccompOperator::kMaskedEqual,
                           .mask = number < kFirstOfIpc ? kIpcBits : kSocketCallBits,
                           .value = static_cast<std::uint64_t>(-number % kCallsPerMultiplexer)};
  std::vector<EntryPoint> found{{static_cast<std::uint32_t>(multiplexer), selector}};
  if (const auto own = own_number(name)) found.push_back({*own, std::nullopt});
  return found;
}

// libseccomp tells the name of a number, but of these calls not the number of a name.
std::optional<std::uint32_t> EntryPoints::own_number(const std::string& name) {
  if (!own_numbers_) {
    own_numbers_.emplace();
    const int first =
        ::seccomp_syscall_resolve_name_arch(architecture_, "socketcall") - kSocketCall;
    for (int number = first; number < first + kNumbersAsked; ++number) {
      const std::unique_ptr<char, decltype(&::free)> known(
          ::seccomp_syscall_resolve_num_arch(architecture_, number), ::free);
      if (known) own_numbers_->emplace(known.get(), static_cast<std::uint32_t>(number));
    }
  }
  const auto found = own_numbers_->find(name);
  return found == own_numbers_->end() ? std::nullopt : std::optional(found->second);
}

}  // namespace ocirun::linux
