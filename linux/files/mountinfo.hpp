#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {

/// A line of /proc/PID/mountinfo (proc_pid_mountinfo(5)), "36 31 0:33 ROOT MOUNT_POINT rw … - TYPE
/// SOURCE OPTIONS". Views into the text; root and mount_point as they are written there.
struct MountEntry {
  std::string_view device;  // "0:33"
  std::string_view root, mount_point;
  std::string_view type;
  std::string_view options;  // of the superblock, separated by commas
};

/// The next mount of `rest`, which keeps what follows; lines of another form are passed over.
std::optional<MountEntry> next_mount(std::string_view& rest);

/// The path itself: mountinfo writes blank, tab, newline and backslash as "\040" and so on.
std::string unescape_path(std::string_view written);

/// The caller's mounts. A host of many containers has a long list: up to 64 MiB.
Result<std::string> read_mountinfo(const Procfs& procfs);

}  // namespace ocirun::linux
