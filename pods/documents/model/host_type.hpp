#pragma once

#include <cstdint>

#include "linux/base/name_table.hpp"

namespace ocirun::pods {

/// What must be, or is made, at a path of the host (`type` of Kubernetes' hostPath). kAny: whatever
/// is there.
enum class HostType : std::uint8_t {
  kAny,
  kFile,
  kFileOrCreate,
  kDirectory,
  kDirectoryOrCreate,
  kSocket,
  kCharDevice,
  kBlockDevice,
};

inline constexpr linux::Named<HostType> kHostTypes[] = {
    {"File", HostType::kFile},
    {"FileOrCreate", HostType::kFileOrCreate},
    {"Directory", HostType::kDirectory},
    {"DirectoryOrCreate", HostType::kDirectoryOrCreate},
    {"Socket", HostType::kSocket},
    {"CharDevice", HostType::kCharDevice},
    {"BlockDevice", HostType::kBlockDevice}};

}  // namespace ocirun::pods
