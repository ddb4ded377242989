#pragma once

#include <string>
#include <vector>

#include "pods/documents/workload.hpp"
#include "pods/images/image_config.hpp"

namespace ocirun::pods {

/// Compares the labels that an App Container manifest gives an image (AC-6) with the image: `os`
/// and `arch` with the platform, `version` with the image's label org.opencontainers.image.version
/// or `version`, each other label with the image's label of the same name. `arch` may be the word
/// of App Container ("aarch64") or of the image ("arm64"). The error lists each label that differs,
/// with its place.
Result<void> check_image_labels(const Workload& workload, const Container& container,
                                const ImageConfig& image);

/// Returns a sentence for each label that the image lacks, so that it was not compared.
std::vector<std::string> unchecked_image_labels(const Workload& workload,
                                                const Container& container,
                                                const ImageConfig& image);

}  // namespace ocirun::pods
