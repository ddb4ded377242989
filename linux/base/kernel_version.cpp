#include "linux/base/kernel_version.hpp"

#include <sys/utsname.h>

#include <charconv>
#include <system_error>

namespace ocirun::linux {

KernelVersion parse_kernel_release(std::string_view release) {
  KernelVersion version;
  const char* const end = release.data() + release.size();
  const auto major = std::from_chars(release.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return {};
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  return minor.ec == std::errc() ? version : KernelVersion{};
}

KernelVersion kernel_version() {
  utsname names{};
  return ::uname(&names) == 0 ? parse_kernel_release(names.release) : KernelVersion{};
}

}  // namespace ocirun::linux
