#pragma once

#include <string>
#include <vector>

#include "pods/documents/workload.hpp"
#include "pods/images/image_config.hpp"
#include "pods/images/store.hpp"
#include "pods/prepare/given.hpp"

namespace ocirun::pods {

/// The options for unpacking layers in the user namespace of the caller. Only the host's root can
/// set the mark `trusted` and make device nodes.
AddOptions options_for_this_namespace();

/// Finds the image of a container, and unpacks the layers that `store` lacks. Looks first at
/// --image NAME=SOURCE, where NAME is the image as the document writes it, the name of the image,
/// or the name of the container; then at the layout of --images. SOURCE is the path of an OCI
/// layout (directory or tar archive) or of an archive of `docker save`; a ":" and the name of an
/// image in it may follow; skopeo's words oci:, oci-archive: and docker-archive: may stand in
/// front. If there is no such path, SOURCE is a reference of the layout of --images. Errors, with
/// the place of the image in the document: the image is not found; those of ImageSource,
/// Store::add() and check_image_labels().
Result<StoredImage> find_image(const Workload& workload, const Container& container,
                               const Given& given, const Store& store, const AddOptions& options);

/// SOURCE of --image with an absolute path, which `path` receives. A reference stays as it is, and
/// so does `path`.
Result<std::string> absolute_source(const std::string& source, std::string& path);

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
