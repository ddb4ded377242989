#pragma once

#include <linux/magic.h>
#include <sys/stat.h>

#include <cstddef>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// The directory of the kept images, copies of ocirun's executable: /var/cache/ocirun, or
/// where that cannot be used (root of a user namespace) $XDG_RUNTIME_DIR/ocirun-image. A directory
/// is used only if the effective user owns it and its mode is 0700. /var/cache comes first because
/// it is on a disk: the page cache of a disk has large folios, which cause fewer page faults. With
/// a tmpfs, `exec` takes a tenth more CPU time.
inline constexpr char kImageDirectory[] = "/var/cache/ocirun";
inline constexpr char kImageDirectoryName[] = "ocirun-image";
inline constexpr char kRuntimeDirectoryVariable[] = "XDG_RUNTIME_DIR=";
inline constexpr unsigned kImageDirectoryMode = 0700;
inline constexpr unsigned kLongestImageName = 160;  // "ocirun", six numbers of 64 bits, six "-"

// Internal linkage: entry.cpp is compiled without the stack protector, and must not call a copy of
// these functions that was compiled with it.
static inline char* append_number(char* end, unsigned long long number) {
  if (number >= 10) end = append_number(end, number / 10);
  *end++ = static_cast<char>('0' + number % 10);
  *end = '\0';
  return end;
}

/// Writes the name of the image of `executable` to `end`, where kLongestImageName bytes have to be
/// free. Returns the place of the terminating NUL. On most filesystems the name identifies one
/// content of one file: writing to a file changes its ctime. /proc/PID/exe shows this name.
static inline char* append_image_name(char* end, const struct statx& executable) {
  for (const char* letter = "ocirun-"; *letter != '\0'; ++letter) *end++ = *letter;
  const unsigned long long parts[] = {executable.stx_dev_major,
                                      executable.stx_dev_minor,
                                      executable.stx_ino,
                                      executable.stx_size,
                                      static_cast<unsigned long long>(executable.stx_ctime.tv_sec),
                                      executable.stx_ctime.tv_nsec};
  for (const unsigned long long part : parts) {
    end = append_number(end, part);
    *end++ = '-';
  }
  *--end = '\0';
  return end;
}

static inline bool is_image_directory(const struct statx& directory, unsigned user) {
  return S_ISDIR(directory.stx_mode) && directory.stx_uid == user &&
         (directory.stx_mode & 07777) == kImageDirectoryMode;
}

/// Whether the server of this filesystem (statfs(2)'s f_type) can report any file owner that it
/// likes.
static inline bool may_forge_owners(unsigned long long type) {
  switch (type) {
    case FUSE_SUPER_MAGIC:
    case NFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case V9FS_MAGIC:
    case CEPH_SUPER_MAGIC:
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC:
      return true;
    default:
      return false;
  }
}

/// Whether the image directory may be made in `directory`, on a filesystem of `type`: nobody else
/// can replace it there.
static inline bool may_hold_images(const struct statx& directory, unsigned long long type,
                                   unsigned user) {
  constexpr unsigned kOthersMayWrite = 022;
  return S_ISDIR(directory.stx_mode) && directory.stx_uid == user && !may_forge_owners(type) &&
         (directory.stx_mode & kOthersMayWrite) == 0;
}

/// Writes `copy`, the content of the running executable, into the image directory, for entry.cpp of
/// a later command. Keeps the newest four images. `executable` is the result of statx(2) from
/// before the content was read. Errors: the executable was changed less than two seconds ago; the
/// directory cannot be made or belongs to another user; no room is left.
Result<void> keep_image(Fd copy, const struct statx& executable);

/// The state in which entry.cpp found the kept image. If the image was missing or wrong,
/// reexec_sealed() calls keep_image().
enum class KeptImage : unsigned char {
  kUnused,   // no image was looked for, or the image could be neither mapped nor executed
  kMissing,  // there is no image, or no overlay can be mounted
  kWrong,    // the image is no copy of the running executable
  kMapped,   // the process runs from the image
};
extern "C" [[gnu::visibility("hidden")]] KeptImage ocirun_kept_image;

inline constexpr std::size_t kLongestPath = 4096;
/// The directory of the executable if the process runs from a kept image that was mapped.
extern "C" [[gnu::visibility("hidden")]] char ocirun_directory[kLongestPath];

}  // namespace ocirun::linux
