#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace ocirun::pods {

/// The header of one entry of a tar archive. All names are the archive's bytes: they may be
/// absolute, contain "..", line breaks or anything else but NUL.
struct TarEntry {
  enum class Type : std::uint8_t {
    kFile,
    kDirectory,
    kSymlink,
    kHardLink,
    kCharacterDevice,
    kBlockDevice,
    kFifo,
    kOther  // a socket, or what the archive invented
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
      xattrs;  // posix ACLs too, as the kernel wants them
};

}  // namespace ocirun::pods
