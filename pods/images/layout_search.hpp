#pragma once

// OCI image layouts (image-layout.md): index.json, and blobs that other documents refer to.

#include <vector>

#include "pods/images/document_reader.hpp"
#include "pods/images/layout.hpp"

namespace ocirun::pods {

// Each index is read at most once, however often others refer to it. Errors: those of ImageSource.
Result<std::vector<ListedImage>> list_layout(DocumentReader documents);
Result<Image> find_in_layout(DocumentReader documents, const ManifestChoice& choice);

}  // namespace ocirun::pods
