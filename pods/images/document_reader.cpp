#include "pods/images/document_reader.hpp"

#include "pods/images/escaped.hpp"

namespace ocirun::pods {

Result<std::string> DocumentReader::read(const std::string& name) {
  TRY_ASSIGN(FileRange file, files_.open(name));
  return counted(within(read_whole(file, kMaxDocument), escaped(name)));
}

Result<std::string> DocumentReader::read_blob(const Descriptor& descriptor) {
  TRY_ASSIGN(FileRange file, files_.open(blob_name(descriptor.digest)));
  return counted(
      within(read_verified(file, descriptor), fmt::format("blob {}", descriptor.digest.text())));
}

Result<std::string> DocumentReader::counted(Result<std::string> document) {
  if (!document) return document;
  if (document->size() > most_ - bytes_)
    return refuse("the indexes, manifests and configurations have more than {} bytes", most_);
  bytes_ += document->size();
  return document;
}

std::string blob_name(const Digest& digest) {
  return fmt::format("blobs/{}/{}", digest.algorithm_name(), digest.hex());
}

}  // namespace ocirun::pods
