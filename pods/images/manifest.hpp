#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pods/images/descriptor.hpp"

namespace ocirun::pods {

/// An image manifest (manifest.md), or docker's of schema version 2.
struct Manifest {
  std::string media_type;  // "" if the manifest does not say it
  Descriptor config;
  std::vector<Descriptor> layers;  // the base layer first
  Annotations annotations;
};

/// Reads a manifest. `what` names it in errors. Errors: those of the JSON reader; a schemaVersion
/// that is not 2; `manifests`, because the document could then be taken for an index too; an
/// artifactType or a config of another media type than a container image's; a layer that is not
/// distributable, or of an unknown media type.
Result<Manifest> parse_manifest(std::string_view what, std::string_view text);

}  // namespace ocirun::pods
