#pragma once

#include <optional>
#include <string>

#include "linux/paths.hpp"

namespace ocirun::runtime {

enum class LogFormat { kText, kJson };
enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class CgroupManager { kCgroupfs, kDisabled };
enum class Rootless { kAuto, kYes, kNo };

/// The options before the command (matrix 4.2).
struct GlobalOptions {
  HostPath root;  // the state root
  bool root_is_explicit = false;
  std::string log;  // a file, or "" for none
  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;
  CgroupManager cgroup_manager = CgroupManager::kCgroupfs;
  Rootless rootless = Rootless::kAuto;
};

/// /run/ocirun for root of the initial user namespace, else $XDG_RUNTIME_DIR/ocirun; an empty
/// variable counts as unset.
HostPath default_state_root();

/// Whether this process is root of the initial user namespace.
bool is_host_root();

}  // namespace ocirun::runtime
