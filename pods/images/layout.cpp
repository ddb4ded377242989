#include "pods/images/layout.hpp"

#include "bundle/json/writer.hpp"
#include "pods/images/docker_archive.hpp"
#include "pods/images/layout_search.hpp"
#include "pods/images/read_json.hpp"

namespace ocirun::pods {
namespace {

struct LayoutFile {
  std::string version;
};
constexpr auto kLayoutFile = bundle::fields<LayoutFile>(
    bundle::required("imageLayoutVersion", &LayoutFile::version, bundle::text));

/// `skopeo copy … dir:PATH` writes the file `version` beside manifest.json and the blobs.
bool is_skopeo_directory(const SourceFiles& files, std::size_t limit) {
  const auto version = DocumentReader(files, limit).read("version");
  return version && version->starts_with("Directory Transport Version:");
}

}  // namespace

Result<ImageSource> ImageSource::open(const HostPath& path, const SourceOptions& options) {
  TRY_ASSIGN(auto files, open_source_files(path, options));
  const std::size_t limit = options.limits.document_bytes;
  const auto text = DocumentReader(*files, limit).read("oci-layout");
  if (text) {
    TRY_ASSIGN(const LayoutFile layout,
               within(read_json<LayoutFile>("oci-layout", *text, kLayoutFile), path.string()));
    if (layout.version != "1.0.0")
      return refuse("{}: oci-layout: version {} is unknown, 1.0.0 is read", path.string(),
                    bundle::in_quotes(layout.version));
    return ImageSource(path.string(), std::move(files), true, limit);
  }
  if (text.error().number() != ENOENT)
    return within(Result<ImageSource>(std::unexpected(text.error())), path.string());
  const auto saved = files->open("manifest.json");
  if (!saved && saved.error().number() != ENOENT)
    return within(Result<ImageSource>(std::unexpected(saved.error())), path.string());
  if (is_skopeo_directory(*files, limit))
    return refuse(
        "{0}: is a directory of skopeo's transport dir:, which has no names and is not read: "
        "`skopeo copy dir:{0} oci:DIR:NAME` makes an OCI image layout of it",
        path.string());
  if (!saved)
    return refuse(
        "{}: has neither oci-layout (an OCI image layout) nor manifest.json (docker save)",
        path.string());
  return ImageSource(path.string(), std::move(files), false, limit);
}

Result<std::vector<ListedImage>> ImageSource::list() const {
  const DocumentReader documents(*files_, document_bytes_);
  return within(is_layout_ ? list_layout(documents) : list_docker_archive(documents), path_);
}

Result<Image> ImageSource::find(const ManifestChoice& choice) const {
  const DocumentReader documents(*files_, document_bytes_);
  return within(
      is_layout_ ? find_in_layout(documents, choice) : find_in_docker_archive(documents, choice),
      path_);
}

Result<FileRange> ImageSource::open_layer(const LayerBlob& layer) const {
  return within(files_->open(layer.file), path_);
}

}  // namespace ocirun::pods
