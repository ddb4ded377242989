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
  /// The attributes that protect the host or the container: MOUNT_ATTR_RDONLY, _NOSUID, _NODEV,
  /// _NOEXEC, _NOSYMFOLLOW.
  std::uint64_t protections() const;
  /// "tmpfs ro,nosuid", with these attributes.
  std::string text() const;
};

/// All bits of MountLine::protections().
extern const std::uint64_t kProtections;

/// "ro,nosuid" or "rw" for bits of MountLine::protections().
std::string text_of_protections(std::uint64_t protections);

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

}  // namespace ocirun::runtime
