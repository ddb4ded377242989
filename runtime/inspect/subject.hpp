#pragma once

#include <fcntl.h>

#include <string>
#include <string_view>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "runtime/inspect/rows.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

/// The living container that is inspected, and its document.
struct Subject {
  const Container& container;
  const bundle::Config& config;  // with the mounts of `mounts add` behind those of the document
  std::size_t own_mounts = 0;    // the number of the document's mounts
  const linux::Procfs& procfs;   // the runtime's own
  int pid = 0;                   // init
  std::string files;             // of a thread of init that lives: "PID" or "PID/task/TID"
  std::string status;            // the text of /proc/PID/status

  /// Reads a file of /proc/PID. No file is read whose text comes from the memory of a process or
  /// from a file system that a container could have made.
  Result<std::string> read(std::string_view file) const {
    constexpr std::size_t kMost = std::size_t{64} << 20;
    OCIRUN_TRY_ASSIGN(const UniqueFd opened,
                      procfs.open_file(files + "/" + std::string(file), O_RDONLY));
    return linux::sys::read_all(opened, kMost);
  }
};

/// Whether init is in the user namespace that the document asks for, so that its capabilities and
/// ids are those of the document. False also if that cannot be told.
bool is_in_asked_user_namespace(const Subject& subject);

/// linux::status_field(), or "".
inline std::string_view status_field(std::string_view status, std::string_view name) {
  return linux::status_field(status, name).value_or("");
}

// The sections of an inspection.

Rows inspect_namespaces(const Subject& subject);
Rows inspect_credentials(const Subject& subject);
Rows inspect_settings(const Subject& subject);
Rows inspect_mounts(const Subject& subject);
class Places;
Rows inspect_devices(const bundle::Config& config, const Places& places);  // part of the mounts
Rows inspect_hooks(const Subject& subject);
Rows inspect_kernel_values(const Subject& subject);
Rows inspect_limits(const Subject& subject);
/// Needs no process.
Rows inspect_use(const Container& container);
/// Of a container without a process: when and how it ended.
Rows inspect_end(const bundle::StateDocument& state);
Rows inspect_processes(const Subject& subject);

}  // namespace ocirun::runtime
