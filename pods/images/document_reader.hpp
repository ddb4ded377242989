#pragma once

#include <cstddef>
#include <string>

#include "pods/images/source_files.hpp"

namespace ocirun::pods {

/// Reads the documents of an image source for one search. Together they are limited, because the
/// source decides how many documents there are.
class DocumentReader {
 public:
  /// `most`: bytes of all documents together.
  DocumentReader(const SourceFiles& files, std::size_t most) : files_(files), most_(most) {}

  /// Errors: those of SourceFiles::open(); EFBIG for more than kMaxDocument bytes; too many bytes
  /// together.
  Result<std::string> read(const std::string& name);
  /// The blob of a descriptor, in an OCI layout. Errors: also those of read_verified().
  Result<std::string> read_blob(const Descriptor& descriptor);

 private:
  Result<std::string> counted(Result<std::string> document);

  const SourceFiles& files_;
  std::size_t most_, bytes_ = 0;
};

/// The name of a blob's file in a layout.
std::string blob_name(const Digest& digest);

}  // namespace ocirun::pods
