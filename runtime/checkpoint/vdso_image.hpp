#pragma once

#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// Checks the vDSO of the images, the code that the kernel of the checkpoint gave to a process. If
/// this kernel's is another, CRIU writes jumps to the functions of the old one, at the addresses
/// that the old one's symbols name: these have to lie inside. Errors: such an address; `bytes` is
/// no ELF file that CRIU reads.
Result<void> check_vdso(std::string_view bytes);

}  // namespace ocirun::runtime
