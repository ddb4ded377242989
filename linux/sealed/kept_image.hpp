#pragma once

#include <sys/stat.h>

#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// The directory of images: in /var/cache for root, in $XDG_RUNTIME_DIR for root of a user's
/// namespace. Only a directory of our own that nobody else may enter is used. It is on a disk
/// because its page cache has large folios, which take fewer page faults: from a tmpfs `exec` takes
/// a tenth more CPU time.
inline constexpr char kImageDirectory[] = "/var/cache/ocirun";
inline constexpr char kImageDirectoryName[] = "ocirun-image";
inline constexpr char kRuntimeDirectoryVariable[] = "XDG_RUNTIME_DIR=";
inline constexpr unsigned kImageDirectoryMode = 0700;
inline constexpr unsigned kLongestImageName = 160;  // "ocirun", six numbers of 64 bits, six "-"

// Internal linkage: sealed_entry.cpp is compiled with other options than the rest.
static inline char* append_number(char* end, unsigned long long number) {
  if (number >= 10) end = append_number(end, number / 10);
  *end++ = static_cast<char>('0' + number % 10);
  *end = '\0';
  return end;
}

/// Appends an image's name, by which exactly one content of exactly one file is known: whoever
/// writes to a file changes its ctime. The name is what /proc/PID/exe shows.
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

/// Whether a directory may hold one of images: nobody else can put something else in its place.
static inline bool may_hold_images(const struct statx& directory, unsigned user) {
  constexpr unsigned kOthersMayWrite = 022;
  return S_ISDIR(directory.stx_mode) && directory.stx_uid == user &&
         (directory.stx_mode & kOthersMayWrite) == 0;
}

/// Whether whoever serves this kind of filesystem (statfs(2)'s f_type) tells what owners they like:
/// FUSE, NFS, SMB, CIFS, 9P, Ceph, AFS.
static inline bool may_forge_owners(unsigned long type) {
  switch (type) {
    case 0x65735546:
    case 0x6969:
    case 0xfe534d42:
    case 0xff534d42:
    case 0x01021997:
    case 0x00c36400:
    case 0x5346414f:
    case 0x6b414653:
      return true;
    default:
      return false;
  }
}

/// Keeps a copy of the running executable, and the newest few of others, for sealed_entry.cpp to
/// execute. What fails is left out: the caller has a copy in memory. `copy` has the content, and
/// `executable` is what statx(2) said of the file before its content was read.
void keep_image(Fd copy, const struct statx& executable);

/// Whether sealed_entry.cpp looked for an image and did not come to run from it.
extern "C" [[gnu::visibility("hidden")]] bool ocirun_image_is_missing;

}  // namespace ocirun::linux
