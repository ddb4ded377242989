#pragma once

#include <string>

#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// A directory in which files for a pod are made.
struct Site {
  Fd fd;
  std::string path;  // absolute
};

}  // namespace ocirun::pods
