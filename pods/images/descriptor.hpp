#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/images/digest.hpp"
#include "pods/images/media_type.hpp"
#include "pods/images/platform.hpp"

namespace ocirun::pods {

using Annotations = std::map<std::string, std::string>;

/// One blob that another document refers to (descriptor.md).
struct Descriptor {
  std::string media_type;
  Digest digest{Digest::Algorithm::kSha256, ""};
  std::uint64_t size = 0;  // bytes
  Annotations annotations;
  std::optional<Platform> platform;  // of a manifest in an index
  std::string artifact_type;         // not "": the blob is no container image

  MediaType type() const { return pods::media_type(media_type); }
};

/// An image index (image-index.md), or docker's list of manifests.
struct Index {
  std::string media_type;
  std::vector<Descriptor> manifests;
  Annotations annotations;
};

/// Reads index.json or an index among the blobs. `what` names the document in errors. The mediaType
/// that the index itself has must be one of an index. Errors: those of the JSON reader; a
/// schemaVersion that is not 2; `layers` or `config`, because the document could then be taken for
/// a manifest too.
Result<Index> parse_index(std::string_view what, std::string_view text);

}  // namespace ocirun::pods
