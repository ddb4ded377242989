#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// One entry of a tar archive, as the archive names it.
struct ArchiveMember {
  enum class Kind : std::uint8_t { kFile, kSymlink, kHardLink, kSparse, kOther };
  Kind kind = Kind::kOther;
  std::string name;
  std::string target;                  // of a link
  std::uint64_t offset = 0, size = 0;  // of a file's content in the archive
};

/// Where the files of a tar archive are in it, so that the archive is scanned only once.
class TarIndex {
 public:
  /// Adds an entry of an archive of `archive_bytes`. Errors: names of more than 64 MiB together; a
  /// name that leads out of the archive, or that another entry has; content beyond the end.
  Result<void> add(const ArchiveMember& member, std::uint64_t archive_bytes);

  struct File {
    std::uint64_t offset = 0, size = 0;  // of the content, in the archive
  };
  /// Follows up to 8 links. Errors: ENOENT; ELOOP; an entry that is no regular file, or a sparse
  /// one.
  Result<File> find(const std::string& name) const;

 private:
  struct Entry {
    ArchiveMember::Kind kind;
    std::string target;  // of a link, from the archive's root
    File file;
  };

  std::map<std::string, Entry, std::less<>> entries_;
  std::size_t name_bytes_ = 0;
};

/// The path from the archive's root: "a/../b/./c" is "b/c". Nothing if it leads out.
std::optional<std::string> plain_path(std::string_view text);

}  // namespace ocirun::pods
