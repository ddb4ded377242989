#pragma once

#include <span>
#include <string>

#include "bundle/json/writer.hpp"

namespace ocirun::pods {

/// Writes the value of linux.seccomp for a container with these capabilities: the filter of every
/// container for which nobody names another.
///
/// The filter is a list of what is allowed. A call that the list refuses fails with EPERM, as
/// programs know from calls that need a privilege. A call that the list does not know fails with
/// ENOSYS: the kernel may be newer than the list, and the C library tries newer calls first and
/// falls back to older ones on ENOSYS alone. The default action says ENOSYS, so that this does not
/// depend on the runtime.
void write_default_seccomp(bundle::JsonWriter& out, std::span<const std::string> capabilities);

}  // namespace ocirun::pods
