#pragma once

// Archives of `docker save` that are no OCI layouts: manifest.json names a configuration and the
// files of the layers; there are no digests of blobs, so that the diff_ids alone verify the layers.

#include <vector>

#include "pods/images/layout.hpp"

namespace ocirun::pods {

Result<std::vector<ListedImage>> list_docker_archive(const SourceFiles& files);
Result<Image> find_in_docker_archive(const SourceFiles& files, const ManifestChoice& choice);

/// Errors unless the number of layers and the platform fit the configuration.
Result<void> check_image(const ImageConfig& config, std::size_t layers, const Platform& platform);

}  // namespace ocirun::pods
