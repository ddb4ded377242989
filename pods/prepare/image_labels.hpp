#pragma once

#include <string>
#include <vector>

#include "pods/documents/workload.hpp"
#include "pods/images/image_config.hpp"

namespace ocirun::pods {

/// Compares the labels that an App Container manifest gives an image (AC-6) with what the image
/// says of itself: `os` and `arch` with its platform, `version` with its label
/// org.opencontainers.image.version or `version`, any other with its label of that name. `arch` may
/// be App Container's word or the image's ("aarch64", "arm64"). Errors: each label that differs,
/// with its place.
Result<void> check_image_labels(const Workload& workload, const Container& container,
                                const ImageConfig& image);

/// A sentence for each label of which the image says nothing.
std::vector<std::string> unchecked_image_labels(const Workload& workload,
                                                const Container& container,
                                                const ImageConfig& image);

}  // namespace ocirun::pods
