#pragma once

#include <sys/types.h>

#include <vector>

#include "linux/base/unique_fd.hpp"
#include "linux/process/exec.hpp"

namespace ocirun::runtime {

/// What a container's process inherits from the caller of ocirun, beside the standard streams.
struct Inheritance {
  mode_t umask = 022;                    // the caller's, for a document without umask (P-20)
  int listening_sockets = 0;             // LISTEN_FDS: descriptors from 3 on (LG-2)
  int preserved_descriptors = 0;         // --preserve-fds: the descriptors after those
  linux::CommandLine command_line = {};  // the caller's, which the process must not show

  /// The number of inherited descriptors; the first one is 3.
  int descriptors() const { return listening_sockets + preserved_descriptors; }
  std::vector<Fd> descriptor_list() const {
    std::vector<Fd> list;
    for (int i = 0; i < descriptors(); ++i) list.push_back(Fd{3 + i});
    return list;
  }
};

}  // namespace ocirun::runtime
