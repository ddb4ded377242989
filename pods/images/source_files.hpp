#pragma once

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

  /// Opens the regular file `name`, such as "blobs/sha256/…". The stream must not outlive this
  /// object. Errors: ENOENT; a name that leads out; another kind of file. In a directory no symlink
  /// is followed; in an archive those that lead to another file of it, as old versions of docker
  /// write them for a layer that two images share.
  virtual Result<std::unique_ptr<ByteStream>> open(const std::string& name) const = 0;
};

/// Errors: ENOENT …; neither a directory nor a file; a damaged archive, one with the same name
/// twice, or with more than 100,000 entries.
Result<std::unique_ptr<SourceFiles>> open_source_files(const HostPath& path);

}  // namespace ocirun::pods
