#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "pods/images/byte_stream.hpp"

struct archive_entry;

namespace ocirun::pods {

/// Where the files of a tar archive are in it, so that the archive is scanned only once.
class TarIndex {
 public:
  /// Reads the headers of an uncompressed archive. Errors: a damaged archive; more than
  /// `most_entries` entries of any kind; names of more than 64 MiB together; a name that leads out
  /// of the archive, or that two entries have.
  static Result<TarIndex> read(ByteStream& archive, std::size_t most_entries);

  struct File {
    std::string path;        // of the entry that has the content
    std::uint64_t position;  // of that entry's first header, from the archive's beginning
  };
  /// Follows up to 8 links. Errors: ENOENT; ELOOP; an entry that is no regular file.
  Result<File> find(const std::string& name) const;

 private:
  enum class Kind : std::uint8_t { kFile, kLink, kOther };
  struct Entry {
    Kind kind = Kind::kOther;
    std::string target;  // of a link, from the archive's root
    std::uint64_t position = 0;
  };

  Result<void> add(::archive_entry* header, std::uint64_t position);

  std::map<std::string, Entry, std::less<>> entries_;
  std::size_t name_bytes_ = 0;
};

/// The path from the archive's root: "a/../b/./c" is "b/c". Nothing if it leads out.
std::optional<std::string> plain_path(std::string_view text);

}  // namespace ocirun::pods
