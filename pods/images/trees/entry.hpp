#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// The header of one entry of a tar archive. Names are untrusted: they may be absolute, and contain
/// "..", line breaks or any byte except NUL.
struct TarEntry {
  enum class Type : std::uint8_t {
    kFile,
    kDirectory,
    kSymlink,
    kHardLink,
    kCharacterDevice,
    kBlockDevice,
    kFifo,
    kOther  // a socket, or an unknown type
  };
  Type type = Type::kFile;
  std::string name;
  std::string target;      // of a symlink; of a hard link, the name of an earlier entry
  std::uint64_t size = 0;  // bytes of a file, holes included
  mode_t mode = 0;         // 07777
  std::int64_t uid = 0, gid = 0;
  timespec accessed{}, modified{};  // `accessed` equals `modified` if the archive does not say it
  std::uint64_t device_major = 0, device_minor = 0;
  std::vector<std::pair<std::string, std::string>>
      xattrs;  // also POSIX ACLs, in the kernel's format
};

/// The extended attribute that tells overlayfs that a directory hides the directories of the same
/// name below. kUser is for a mount with the option userxattr, in a user namespace. With either
/// mark, whiteouts are character devices 0:0; every user may make them since Linux 5.8.
enum class OpaqueMark : std::uint8_t { kTrusted, kUser };
const char* attribute_name(OpaqueMark mark);
/// Whether the directory of a layer is marked as opaque.
Result<bool> is_opaque(Fd directory, OpaqueMark mark);
/// Whether `info` describes overlayfs' sign for a hidden name: a character device 0:0.
bool is_whiteout(const struct stat& info);

/// What becomes of the devices of a layer. kLeaveOut is for a user namespace, where nobody may make
/// a device: devices are only counted, and a whiteout takes the place of a device that hides a name
/// of a layer below.
enum class DeviceNodes : std::uint8_t { kMake, kLeaveOut };

}  // namespace ocirun::pods
