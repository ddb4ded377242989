#pragma once

// Archives of `docker save` that are no OCI layouts: manifest.json names a configuration and the
// files of the layers; there are no digests of blobs, so that the diff_ids alone verify the layers.

#include <vector>

#include "pods/images/document_reader.hpp"
#include "pods/images/layout.hpp"

namespace ocirun::pods {

// Each configuration is read at most once, however many images have it. Errors: those of
// ImageSource.
Result<std::vector<ListedImage>> list_docker_archive(DocumentReader documents);
Result<Image> find_in_docker_archive(DocumentReader documents, const ManifestChoice& choice);

/// Errors unless the number of layers and the platform fit the configuration.
Result<void> check_image(const ImageConfig& config, std::size_t layers, const Platform& platform);

}  // namespace ocirun::pods
