#pragma once

#include <span>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// The processes whose open files are compared.
struct FilesExpectation {
  const bundle::Config& config;
  const linux::Procfs& procfs;  // the runtime's
  std::span<const Fd> streams;  // files of the host that the processes may have open
  std::span<const int> pids;
  std::span<const int> namespaces;  // a process of each mount namespace of the container
};

/// Compares what the restored processes hold open. CRIU opens all files with its own capabilities.
/// An open or mapped file, a directory, a program lies on a mount of the container, or is one of
/// `streams`. Some descriptors need a capability in the container's bounding set, because the
/// kernel gives them to nobody without it: a raw or packet socket, a socket with a mark, a tun
/// device, a fanotify group, a map of BPF. Before Linux 5.6 a socket cannot be compared, which is
/// an error. Errors: a sentence that names process and descriptor.
Result<void> compare_files(const FilesExpectation& wanted);

}  // namespace ocirun::runtime
