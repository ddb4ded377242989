#pragma once

#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "shim/options/runtime_options.hpp"

namespace ocirun::shim {

/// The runtime that a container was made with. The server records it in the bundle (shim.json), for
/// the action `delete` of the shim, and for a server of another version.
struct RuntimeRecord {
  int format = 1;
  std::string runtime;  // an absolute path
  std::string root;     // its --root
  bool systemd_cgroup = false;
};

/// The runtime that the options choose for a namespace of containerd. Errors: it is not installed.
Result<RuntimeRecord> choose_runtime(const RuntimeOptions& options,
                                     const std::string& container_namespace);

/// Replaces the record of the bundle at the path `bundle`.
Result<void> write_runtime_record(const std::string& bundle, const RuntimeRecord& record);

/// Reads the record of a bundle. Without a record, or without the bundle (`bundle` is -1): what the
/// server would record without any options. Errors: a damaged record; without a record, ocirun is
/// not installed.
Result<RuntimeRecord> read_runtime_record(Fd bundle, const std::string& container_namespace);

}  // namespace ocirun::shim
