#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pods/documents/model/reference.hpp"

namespace ocirun::pods {

/// A place that skopeo copies an image from: a registry, a docker daemon, or a store of podman and
/// buildah.
struct Origin {
  std::string address;                   // skopeo's word, "docker://docker.io/library/nginx:latest"
  std::string name;                      // of the image in the layout of the store
  std::optional<Reference> in_registry;  // of an image in a registry

  /// The image in its registry. A reference with a digest loses its tag: skopeo takes no reference
  /// with both, and the digest decides.
  static Origin of(const Reference& reference);
  /// Reads docker://REFERENCE, docker-daemon:… and containers-storage:…; nothing for other texts.
  /// Errors: those of Reference::parse().
  static Result<std::optional<Origin>> parse(std::string_view source);

  /// The address of the manifest or index `digest` in the same repository. Only for a registry.
  std::string address_of(const Digest& digest) const;
  /// The origin in messages: the reference, or skopeo's word.
  const std::string& shown() const { return in_registry ? name : address; }
};

}  // namespace ocirun::pods
