#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/seccomp/filter.hpp"
#include "linux/seccomp/prepare.hpp"
#include "linux/seccomp/program.hpp"

namespace ocirun::linux {

/// The filter for these architectures (SCMP_ARCH_*) of the host's byte order, of any length.
/// `warnings` are those of decide(). This machine may lack the architectures: the tests compile
/// for all.
Result<Program> compile_for(std::span<const std::uint32_t> architectures,
                            const SeccompProfile& profile, const PreparedProfile& prepared,
                            std::vector<std::string>& warnings);

}  // namespace ocirun::linux
