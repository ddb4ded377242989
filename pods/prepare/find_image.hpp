#pragma once

#include <string>
#include <vector>

#include "pods/documents/workload.hpp"
#include "pods/images/image_config.hpp"
#include "pods/images/store.hpp"
#include "pods/prepare/given.hpp"

namespace ocirun::pods {

/// The form in which layers are unpacked here: in a user namespace with the marks of overlayfs that
/// root of it may set, and without device nodes, which only the host's root may make.
AddOptions options_for_this_namespace();

/// Finds the image of a container, and unpacks into `store` the layers that the store lacks. Looked
/// at in this order: --image NAME=SOURCE, where NAME is the container's image as the document
/// writes it, the image's name or the container's; then the layout of --images. SOURCE is the path
/// of an OCI layout (directory or tar archive) or of an archive of `docker save`; behind a ":" may
/// follow which image of it; skopeo's words oci:, oci-archive: and docker-archive: may stand in
/// front. If there is no such path, SOURCE is a reference of the layout of --images. Errors, with
/// the place of the image in the document: those of ImageSource, Store::add() and
/// check_image_labels(); the image is nowhere.
Result<StoredImage> find_image(const Workload& workload, const Container& container,
                               const Given& given, const Store& store, const AddOptions& options);

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
