#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/manifest.hpp"
#include "pods/images/trees/byte_stream.hpp"

namespace ocirun::pods {

/// The files of an image source, which is a directory or a tar archive.
class SourceFiles {
 public:
  SourceFiles() = default;
  SourceFiles(const SourceFiles&) = delete;
  SourceFiles& operator=(const SourceFiles&) = delete;
  virtual ~SourceFiles() = default;

  /// Opens the regular file `name`, such as "blobs/sha256/…". Errors: ENOENT; a name that leads
  /// out; another kind of file. Follows no symlink in a directory. In an archive, follows symlinks
  /// to other files of the archive: old versions of docker write such a symlink for a layer that
  /// two images share.
  virtual Result<FileRange> open(const std::string& name) const = 0;
};

/// How much a source may take to read.
struct SourceLimits {
  std::uint64_t archive_bytes = std::uint64_t{64} << 30;  // uncompressed
  std::size_t archive_entries = 100'000;
  std::size_t document_bytes = std::size_t{64}
                               << 20;  // of all documents together that one search reads
};

struct SourceOptions {
  SourceLimits limits;
  /// The directory in which a compressed archive is uncompressed, into a file without a name.
  HostPath temporary{"/var/tmp"};
};

/// Opens a directory or an archive, which may be compressed. Reads an archive once, from beginning
/// to end, and uncompresses it once, into `options.temporary`. Errors: ENOENT …; neither a
/// directory nor a file; the archive is damaged, has a name twice, has more bytes or entries than
/// the limits, or names of more than 64 MiB together.
Result<std::unique_ptr<SourceFiles>> open_source_files(const HostPath& path,
                                                       const SourceOptions& options = {});

/// One entry of a tar archive, as the archive names it.
struct ArchiveMember {
  enum class Kind : std::uint8_t { kFile, kSymlink, kHardLink, kSparse, kOther };
  Kind kind = Kind::kOther;
  std::string name;
  std::string target;                  // of a link
  std::uint64_t offset = 0, size = 0;  // of a file's content in the archive
};

/// An index of a tar archive: where in the archive each file is. With it the archive is scanned
/// only once.
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

/// Reads the documents of an image source for one search. Together they are limited, because the
/// source decides how many documents there are.
class DocumentReader {
 public:
  /// `most`: bytes of all documents together.
  DocumentReader(const SourceFiles& files, std::size_t most) : files_(files), most_(most) {}

  /// Errors: those of SourceFiles::open(); EFBIG for more than kMaxDocument bytes; too many bytes
  /// together.
  Result<std::string> read(const std::string& name);
  /// The blob of a descriptor, in an OCI layout. Errors: those of read(); its size or digest
  /// differs from the descriptor.
  Result<std::string> read_blob(const Descriptor& descriptor);

 private:
  Result<std::string> counted(Result<std::string> document);

  const SourceFiles& files_;
  std::size_t most_, bytes_ = 0;
};

/// The name of a blob's file in a layout.
std::string blob_name(const Digest& digest);

}  // namespace ocirun::pods
