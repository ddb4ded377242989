#pragma once

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

}  // namespace ocirun::pods
