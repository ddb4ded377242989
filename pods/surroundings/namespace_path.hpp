#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace ocirun::pods {

/// The path of a namespace of the process `pid` (0: the caller) on the host; `type`: "net", "mnt" …
inline std::string namespace_path(int pid, std::string_view type) {
  if (pid == 0) return fmt::format("/proc/self/ns/{}", type);
  return fmt::format("/proc/{}/ns/{}", pid, type);
}

}  // namespace ocirun::pods
