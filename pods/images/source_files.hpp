#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "pods/images/byte_stream.hpp"

namespace ocirun::pods {

/// The files of an image source: of a directory, or of a tar archive, which may be compressed.
class SourceFiles {
 public:
  SourceFiles() = default;
  SourceFiles(const SourceFiles&) = delete;
  SourceFiles& operator=(const SourceFiles&) = delete;
  virtual ~SourceFiles() = default;

  /// Opens the regular file `name`, such as "blobs/sha256/…". Errors: ENOENT; a name that leads
  /// out; another kind of file. In a directory no symlink is followed; in an archive those that
  /// lead to another file of it, as old versions of docker write them for a layer that two images
  /// share.
  virtual Result<FileRange> open(const std::string& name) const = 0;
};

/// What a source may cost whoever reads it.
struct SourceLimits {
  std::uint64_t archive_bytes = std::uint64_t{64} << 30;  // uncompressed
  std::size_t archive_entries = 100'000;
  std::size_t document_bytes = std::size_t{64} << 20;  // of all documents that one search reads
};

struct SourceOptions {
  SourceLimits limits;
  /// The directory for the content of a compressed archive, as a file without a name.
  HostPath temporary{"/var/tmp"};
};

/// Opens a directory or an archive. An archive is read once from its beginning to its end; a
/// compressed one is uncompressed once, into `options.temporary`. Errors: ENOENT …; neither a
/// directory nor a file; a damaged archive; one with the same name twice, with more bytes or
/// entries than the limits, or with names of more than 64 MiB.
Result<std::unique_ptr<SourceFiles>> open_source_files(const HostPath& path,
                                                       const SourceOptions& options = {});

}  // namespace ocirun::pods
