#pragma once

#include <string>
#include <vector>

#include "pods/documents/workload.hpp"
#include "pods/images/registry/pull.hpp"
#include "pods/images/store.hpp"
#include "pods/prepare/given.hpp"

namespace ocirun::pods {

/// The options for unpacking layers in the user namespace of the caller. Only the host's root can
/// set the attributes trusted.* and make device nodes.
AddOptions options_for_this_namespace();

/// Fetches an image by pull(), and unpacks the layers that `store` lacks. Errors: those of pull()
/// and Store::add().
Result<StoredImage> pull_image(const Store& store, const Origin& origin, const PullRequest& request,
                               const AddOptions& options);

/// Finds the image of a container, and unpacks the layers that `store` lacks. Looks first at
/// --image NAME=SOURCE, where NAME is the image as the document writes it, the name of the image,
/// or the name of the container; then at the layout of --images; then, for an image with a
/// reference, at the pulled images of the store and at the registry, by --pull. SOURCE is the path
/// of an OCI layout (directory or tar archive) or of an archive of `docker save`; a ":" and the
/// name of an image in it may follow; skopeo's words oci:, oci-archive: and docker-archive: may
/// stand in front. SOURCE may also be docker://REFERENCE, docker-daemon:… or containers-storage:…,
/// which pull() fetches. If there is no such path, SOURCE is a reference of the layout of --images.
/// Errors, with the place of the image in the document: the image is not found; those of pull(),
/// ImageSource, Store::add() and check_image_labels().
Result<StoredImage> find_image(const Workload& workload, const Container& container,
                               const Given& given, const Store& store, const AddOptions& options);

/// SOURCE of --image with an absolute path, which `path` receives. A reference stays as it is, and
/// so does `path`.
Result<std::string> absolute_source(const std::string& source, std::string& path);

}  // namespace ocirun::pods
