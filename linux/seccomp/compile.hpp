#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/seccomp/filter.hpp"
#include "linux/seccomp/program.hpp"

namespace ocirun::linux {

/// A rule of a profile after its checks.
struct PreparedRule {
  std::uint32_t answer = 0;  // SECCOMP_RET_* with its data
  /// A call that meets all conditions of one of these sets gets the answer. There is one set, or,
  /// if the rule has two conditions on one argument, one set for each condition (S-9).
  std::vector<std::vector<SeccompArgument>> alternatives;
  /// System calls that libseccomp knows on some architecture. The strings are those of the profile.
  std::vector<const std::string*> names;
  std::size_t index = 0;  // in /linux/seccomp/syscalls
};

/// Refers to the SeccompProfile that it was prepared from, which must outlive it.
struct PreparedProfile {
  std::uint32_t default_answer = 0;  // SECCOMP_RET_* with its data
  std::vector<PreparedRule> rules;   // in the profile's order
};

/// Checks a profile's actions, errnos and arguments. Names of system calls that libseccomp does not
/// know are left out and listed in one line of `warnings`. Errors name the field.
Result<PreparedProfile> prepare(const SeccompProfile& profile, std::vector<std::string>& warnings);

/// The filter for these architectures (SCMP_ARCH_*) of the host's byte order, of any length.
/// `warnings` are those of decide(). This machine may lack the architectures: the tests compile
/// for all.
Result<Program> compile_for(std::span<const std::uint32_t> architectures,
                            const SeccompProfile& profile, const PreparedProfile& prepared,
                            std::vector<std::string>& warnings);

}  // namespace ocirun::linux
