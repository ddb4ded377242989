#pragma once

#include <sys/types.h>

#include <vector>

#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// What a container's process gets of its caller, beside the standard streams.
struct Inheritance {
  mode_t umask = 022;             // where config.json says none (P-20)
  int listening_sockets = 0;      // descriptors from 3 on, which LISTEN_FDS tells of (LG-2)
  int preserved_descriptors = 0;  // the next ones: --preserve-fds

  /// How many descriptors from 3 on.
  int descriptors() const { return listening_sockets + preserved_descriptors; }
  /// Those descriptors, and no other.
  std::vector<Fd> descriptor_list() const {
    std::vector<Fd> list;
    for (int i = 0; i < descriptors(); ++i) list.push_back(Fd{3 + i});
    return list;
  }
};

}  // namespace ocirun::runtime
