#pragma once

#include <sys/statvfs.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::runtime {

bool is_id_mapped(const linux::MountEntry& mount);

/// The file to which a path of the container leads.
struct FoundFile {
  UniqueFd file;              // O_PATH
  std::string path;           // without symlinks
  std::uint64_t mount = 0;    // the id in the mount table
  int mounts_on_path = 0;     // mounts on this very path, one over the other
  bool is_mounted = false;    // `mount` is on this very path
  bool is_id_mapped = false;  // `mount` is id-mapped
};

/// The root of a container's mount namespace, for a process that has entered the namespace.
class ContainerRoot {
 public:
  /// Opens the root, and reads the mount table. `procfs` is the runtime's.
  static Result<ContainerRoot> open(const linux::Procfs& procfs);

  const linux::SafeDir& directory() const { return root_; }
  /// The text of mountinfo.
  const std::string& table() const { return table_; }
  /// Looks the path up from the root. Nothing if it does not exist.
  Result<std::optional<FoundFile>> find(const RootfsPath& path) const;

 private:
  ContainerRoot(const linux::Procfs& procfs, linux::SafeDir root, std::string table)
      : procfs_(procfs), root_(std::move(root)), table_(std::move(table)) {}
  const linux::Procfs& procfs_;
  linux::SafeDir root_;
  std::string table_;
};

/// The flags of a mount that are compared.
inline constexpr std::uint64_t kComparedFlags = ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC;

/// Checks that the mount of `file` has all of `wanted`, which are some of kComparedFlags. Errors:
/// "PATH lacks nosuid, nodev".
Result<void> check_mount_flags(Fd file, std::uint64_t wanted, std::string_view path);

}  // namespace ocirun::runtime
