#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {

/// A line of /proc/PID/mountinfo (proc_pid_mountinfo(5)): "36 31 0:33 ROOT MOUNT_POINT rw shared:1
/// - TYPE SOURCE OPTIONS". The members are views into that text, with root and mount_point still
/// escaped.
struct MountEntry {
  std::uint64_t id = 0, parent = 0;  // of the mount, and of the mount that it is attached to
  std::string_view device;           // "0:33"
  std::string_view root, mount_point;
  std::string_view attributes;   // of the mount: "ro,nosuid,idmapped"
  std::string_view propagation;  // "shared:12 master:3"; "" for a private mount
  std::string_view type;
  std::string_view options;  // of the superblock, separated by commas
};

/// Removes the next mount from `rest` and returns it. Malformed lines are skipped.
std::optional<MountEntry> next_mount(std::string_view& rest);

/// Unescapes a path: mountinfo writes blank, tab, newline and backslash as "\040" and so on.
std::string unescape_path(std::string_view written);

/// The id of the mount that `file` lies on, as mountinfo has it. `procfs` is that of the caller's
/// pid namespace.
Result<std::uint64_t> mount_of(const Procfs& procfs, Fd file);

/// Reads the mountinfo of the caller. Errors: the file has more than 64 MiB.
Result<std::string> read_mountinfo(const Procfs& procfs);

}  // namespace ocirun::linux
