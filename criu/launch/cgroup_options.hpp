#pragma once

#include <string>

#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// Keeps the options of the host's cgroup2 filesystem, such as nsdelegate, while CRIU works: CRIU
/// mounts that filesystem for itself without options, which clears the options for everybody. The
/// destructor sets them again if they have changed.
class CgroupOptions {
 public:
  /// Reads the options; keeps nothing where no cgroup2 filesystem is mounted.
  CgroupOptions();
  CgroupOptions(const CgroupOptions&) = delete;
  CgroupOptions& operator=(const CgroupOptions&) = delete;
  ~CgroupOptions();

 private:
  UniqueFd mount_;       // of a cgroup2 filesystem, or empty
  std::string options_;  // "rw,nsdelegate"
};

}  // namespace ocirun::linux
