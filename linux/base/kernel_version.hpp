#pragma once

#include <compare>
#include <string_view>

namespace ocirun::linux {

struct KernelVersion {
  int major = 0, minor = 0;
  auto operator<=>(const KernelVersion&) const = default;
};

/// The first two numbers of a release as uname(2) writes it: "6.1.0-28-amd64". 0.0 for other texts.
KernelVersion parse_kernel_release(std::string_view release);
/// The version of the running kernel. A distribution may have put changes of later ones into it.
KernelVersion kernel_version();

}  // namespace ocirun::linux
