#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ocirun::runtime {

/// A mount as a line of /proc/PID/mountinfo has it.
struct MountLine {
  std::uint64_t id = 0, parent = 0;
  std::string point;        // from the root of the process
  std::string type;         // "tmpfs"
  std::string device;       // of the file system, "0:33"
  std::string root;         // the part of the file system that is mounted, "/etc/hosts"
  std::string attributes;   // "ro,nosuid,noexec,relatime"
  std::string propagation;  // "shared:12 master:3", or ""

  bool has(std::string_view attribute) const;
  /// "tmpfs ro,nosuid", with the attributes that protect.
  std::string text() const;
};

/// The mounts of one mount namespace.
class MountTable {
 public:
  /// `text`: of /proc/PID/mountinfo.
  explicit MountTable(std::string_view text);

  const std::vector<MountLine>& lines() const { return lines_; }
  /// The mount that was put last on `point`; nullptr if nothing is mounted there.
  const MountLine* at(std::string_view point) const;
  const MountLine* with_id(std::uint64_t id) const;
  /// The number of mounts on `point`, one over the other.
  std::size_t count_at(std::string_view point) const;

 private:
  std::vector<MountLine> lines_;
};

/// The attributes of a mount that protect the host or the container, as mountinfo has them.
inline constexpr std::string_view kProtections[] = {"ro", "nosuid", "nodev", "noexec",
                                                    "nosymfollow"};

}  // namespace ocirun::runtime
