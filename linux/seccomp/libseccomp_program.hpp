#pragma once

#include <cstdint>

#include "linux/base/error.hpp"
#include "linux/seccomp/prepare.hpp"
#include "linux/seccomp/program.hpp"

namespace ocirun::linux {

/// A whole filter of libseccomp for one architecture (SCMP_ARCH_*). It kills on the token of any
/// other architecture. libseccomp needs milliseconds for the rules of a whole profile;
/// compile_seccomp() calls this for the few calls that Decision leaves to libseccomp. The tests
/// compare every filter with it. No rule may have the default answer. Errors name the rule.
Result<Program> libseccomp_program(std::uint32_t architecture, const PreparedProfile& profile);

}  // namespace ocirun::linux
