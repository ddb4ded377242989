#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pods/images/image_config.hpp"
#include "pods/images/layer.hpp"
#include "pods/images/source_files.hpp"

namespace ocirun::pods {

/// Selects one image of a source.
struct ManifestChoice {
  /// A reference, or the text of the annotation org.opencontainers.image.ref.name. "": the only
  /// image of the source. If the reference has a digest, the name is ignored.
  std::string reference;
  Platform platform = Platform::host();
};

/// One image of a source. An index is listed as several images, one for each manifest.
struct ListedImage {
  std::vector<std::string> names;
  Digest digest;  // of the manifest; of the configuration in an archive of `docker save`
  std::optional<Platform> platform;
};

/// An image before its layers are read. The digests of its documents were verified.
struct Image {
  Digest digest;     // as in ListedImage
  Digest config_id;  // the digest of the configuration
  ImageConfig config;
  std::vector<LayerBlob> layers;  // the base layer first; as many as config.diff_ids
};

/// A place with images: an OCI image layout (image-layout.md) as a directory or tar archive, or an
/// archive of `docker save`, also a compressed one. Archives of newer versions of docker have both
/// forms, and are read as layouts.
class ImageSource {
 public:
  /// Errors: those of open_source_files(); the source has neither form (a directory of skopeo's
  /// transport dir:, for example); the imageLayoutVersion is unknown.
  static Result<ImageSource> open(const HostPath& path, const SourceOptions& options = {});

  /// Lists all images. Errors: an index that refers to itself, or is nested more than 4 deep; a
  /// blob whose size or digest differs from its descriptor; documents of more bytes than the limit;
  /// more than 10,000 manifests, or 100,000 ways to documents through indexes in indexes.
  Result<std::vector<ListedImage>> list() const;

  /// Finds one image. An index is resolved by os, architecture and variant. Errors: those of
  /// list(); no image of that name, or several; none for the platform; a manifest or configuration
  /// that is refused; a configuration for another platform; another number of layers than of
  /// diff_ids.
  Result<Image> find(const ManifestChoice& choice) const;

  /// Whether the source has an image of that name, for whatever platform. Errors: those of list().
  Result<bool> has(const std::string& reference) const;

  /// Finds the manifest of one image in an OCI layout, without reading the manifest. Errors: those
  /// of find() that concern indexes.
  Result<Descriptor> find_manifest(const ManifestChoice& choice) const;

  /// Opens the content of a layer. The content is not verified here, but by unpack_layer_apart().
  Result<FileRange> open_layer(const LayerBlob& layer) const;

 private:
  ImageSource(std::string path, std::unique_ptr<SourceFiles> files, bool is_layout,
              std::size_t document_bytes)
      : path_(std::move(path)),
        files_(std::move(files)),
        is_layout_(is_layout),
        document_bytes_(document_bytes) {}

  std::string path_;
  std::unique_ptr<SourceFiles> files_;
  bool is_layout_;
  std::size_t document_bytes_;  // the limit for one search
};

// layout.cpp: OCI image layouts (image-layout.md), which have index.json, and blobs that other
// documents refer to.

// None of these functions reads an index twice. Errors: those of ImageSource.
Result<std::vector<ListedImage>> list_layout(DocumentReader documents);
Result<Image> find_in_layout(DocumentReader documents, const ManifestChoice& choice);
Result<bool> layout_has(DocumentReader documents, const std::string& reference);
Result<Descriptor> find_manifest_in_layout(DocumentReader& documents, const ManifestChoice& choice);

// docker_archive.cpp: archives of `docker save` that are no OCI layouts. manifest.json names the
// configuration and the files of the layers of each image. There are no digests of blobs: only the
// diff_ids verify the layers.

// None of these functions reads a configuration twice. Errors: those of ImageSource.
Result<std::vector<ListedImage>> list_docker_archive(DocumentReader documents);
Result<Image> find_in_docker_archive(DocumentReader documents, const ManifestChoice& choice);
Result<bool> docker_archive_has(DocumentReader documents, const std::string& reference);

/// Refuses an image whose number of layers or platform does not fit the configuration.
Result<void> check_image(const ImageConfig& config, std::size_t layers, const Platform& platform);

}  // namespace ocirun::pods
