#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// linux.netDevices (L-29): a host device that moves into the container's network namespace.
struct NetDevice {
  std::string host_name;
  std::string container_name;  // the same as host_name when `name` is absent; may hold one "%d"
};

/// Allowed: 1 to 15 bytes, not "." or "..", no "/", ":" or white space, "%" only in a single "%d"
/// (a template, in which the kernel replaces "%d" by a free number).
bool is_valid_interface_name(std::string_view name);

/// Sets `lo` of the calling thread's network namespace up (L-8).
Result<void> bring_loopback_up();

}  // namespace ocirun::linux
