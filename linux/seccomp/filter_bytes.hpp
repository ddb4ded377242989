#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {

/// A compiled filter as bytes (flags, whether it has a listener, the program) and back: for the
/// socket to init, and for the file in the state directory that `exec` reads. Error of
/// parse_filter_bytes(): `bytes` are no such filter.
std::string filter_bytes(const SeccompFilter& filter);
Result<SeccompFilter> parse_filter_bytes(std::string_view bytes);

}  // namespace ocirun::linux
