#include "pods/images/registry/receive.hpp"

#include <fcntl.h>

#include <optional>
#include <string>
#include <vector>

#include "bundle/json/read_json.hpp"
#include "linux/base/file_io.hpp"
#include "linux/files/directories.hpp"
#include "pods/images/fields.hpp"
#include "pods/images/registry/other_places.hpp"
#include "pods/images/registry/skopeo.hpp"
#include "pods/images/stored_layout.hpp"

namespace ocirun::pods {
namespace {

constexpr std::uint64_t kMostDocuments = std::uint64_t{64} << 20;  // bytes beside the layers
constexpr const char* kIndexType = "application/vnd.oci.image.index.v1+json";
constexpr const char* kManifestType = "application/vnd.oci.image.manifest.v1+json";

struct DocumentType {
  std::string media_type;
  bool has_manifests = false;
};

constexpr auto kDocumentType = bundle::fields<DocumentType>(
    bundle::field("mediaType", &DocumentType::media_type, bundle::text),
    bundle::part("manifests",
                 [](bundle::Value, DocumentType& out) {
                   out.has_manifests = true;
                   return true;
                 }),
    bundle::without_effect("schemaVersion"), bundle::without_effect("config"),
    bundle::without_effect("layers"), bundle::without_effect("annotations"),
    bundle::without_effect("artifactType"), bundle::without_effect("subject"));

/// The media type of a manifest or an index. The document need not say it: the registry says it in
/// a header of its answer, which skopeo does not print.
Result<std::string> type_of(std::string_view text) {
  OCIRUN_TRY_ASSIGN(const DocumentType type,
                    bundle::read_json<DocumentType>("its manifest", text, kDocumentType));
  if (!type.media_type.empty()) return type.media_type;
  return std::string(type.has_manifests ? kIndexType : kManifestType);
}

/// Verifies the digest and the size of a layer that has arrived.
Result<void> verify_layer(const ImageSource& source, const LayerBlob& layer) {
  auto verified = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(FileRange file, source.open_layer(layer));
    HashingStream stream(file, layer.digest->algorithm(), layer.size);
    OCIRUN_TRY(drain(stream));
    if (stream.size() != layer.size)
      return refuse("it has {} bytes, its descriptor says {}", stream.size(), layer.size);
    const Digest digest = stream.finish();
    if (digest != *layer.digest)
      return refuse("its content has the digest {}, it was changed or damaged", digest.text());
    return {};
  }();
  return within(std::move(verified), "layer {}", layer.digest->text());
}

/// One image on its way into the store.
class Arrival {
 public:
  /// `directory`: a new directory at `path`, on the filesystem of the store.
  Arrival(const Store& store, const Origin& origin, const PullRequest& request, Fd directory,
          const HostPath& path)
      : store_(store),
        origin_(origin),
        pulling_(request.pulling),
        access_{.auth_file = request.auth_file,
                .plain_http = origin.in_registry &&
                              request.pulling.plain_http.contains(origin.in_registry->host)},
        directory_(directory),
        path_(path) {}

  Result<void> run() {
    if (origin_.in_registry) {
      OCIRUN_TRY(copy_from_registry());
    } else {
      OCIRUN_TRY(copy_from_this_machine());
    }
    OCIRUN_TRY(write_layout(directory_, top_, origin_.name));
    OCIRUN_TRY_ASSIGN(const ImageSource source, ImageSource::open(path_));
    OCIRUN_TRY_ASSIGN(const Image image, source.find({.reference = top_.digest.text()}));
    for (const LayerBlob& layer : image.layers) OCIRUN_TRY(verify_lent(source, layer));
    return keep_pulled(store_, directory_, blobs_of(image, top_.digest), top_, origin_.name);
  }

 private:
  /// Chooses the manifest for this machine as for every other source, and lets skopeo copy it by
  /// its digest.
  Result<void> copy_from_registry() {
    OCIRUN_TRY_ASSIGN(const std::string first,
                      fetch(origin_.address, origin_.in_registry->digest, top_));
    OCIRUN_TRY(write_layout(directory_, top_, origin_.name));
    OCIRUN_TRY_ASSIGN(const ImageSource source, ImageSource::open(path_));
    OCIRUN_TRY_ASSIGN(Descriptor chosen, source.find_manifest({.reference = top_.digest.text()}));
    const std::string address = origin_.address_of(chosen.digest);
    std::string text = first;
    if (chosen.digest != top_.digest) {
      OCIRUN_TRY_ASSIGN(text, fetch(address, Digest(chosen.digest), chosen));
    }
    const std::string name = "manifest " + chosen.digest.text();
    OCIRUN_TRY_ASSIGN(const Manifest manifest, parse_manifest(name, text));
    OCIRUN_TRY(check_no_other_places(name, text));
    std::uint64_t bytes = kMostDocuments;
    std::vector<Digest> blobs{manifest.config.digest};
    for (const Descriptor& layer : manifest.layers) {
      const bool is_too_big = layer.size > ImageLimits().bytes - bytes;
      if (is_too_big) return refuse("its layers have more than {} bytes", ImageLimits().bytes);
      bytes += layer.size;
      blobs.push_back(layer.digest);
    }
    OCIRUN_TRY(lend_blobs(store_, directory_, blobs));
    return copy(address, bytes, true);
  }

  Result<void> copy_from_this_machine() {
    OCIRUN_TRY(copy(origin_.address, ImageLimits().bytes, false));
    OCIRUN_TRY_ASSIGN(const std::string text,
                      linux::read_file(directory_, "index.json", kMaxDocument, O_NOFOLLOW));
    OCIRUN_TRY_ASSIGN(const Index index, parse_index("index.json", text));
    if (index.manifests.size() != 1)
      return refuse("skopeo has written {} images instead of one", index.manifests.size());
    top_ = index.manifests.front();
    return {};
  }

  /// Fetches a manifest or an index, keeps it as a blob, and describes it in `descriptor`.
  /// `wanted`: the digest that it must have.
  Result<std::string> fetch(const std::string& address, const std::optional<Digest>& wanted,
                            Descriptor& descriptor) {
    OCIRUN_TRY_ASSIGN(std::string text,
                      run_skopeo(pulling_, inspect_words(address, access_), directory_,
                                 {pulling_.patience, kMostDocuments}, false));
    const Digest digest =
        digest_of(text, wanted ? wanted->algorithm() : Digest::Algorithm::kSha256);
    if (wanted && digest != *wanted)
      return refuse("the registry has sent a manifest with the digest {} for {}", digest.text(),
                    wanted->text());
    OCIRUN_TRY_ASSIGN(descriptor.media_type, type_of(text));
    descriptor.digest = digest;
    descriptor.size = text.size();
    OCIRUN_TRY_ASSIGN(const UniqueFd blobs,
                      linux::open_or_make_directory(directory_, "blobs", 0700));
    OCIRUN_TRY_ASSIGN(
        const UniqueFd place,
        linux::open_or_make_directory(blobs, std::string(digest.algorithm_name()).c_str(), 0700));
    OCIRUN_TRY(linux::replace_file(place, digest.hex(), text, 0600));
    return text;
  }

  Result<void> copy(const std::string& address, std::uint64_t bytes, bool keeps_digests) {
    OCIRUN_TRY(run_skopeo(pulling_, copy_words(address, path_.string(), access_, keeps_digests),
                          directory_, {pulling_.patience, bytes}, true));
    return {};
  }

  /// A layer of the store that is damaged is removed from the store, so that the next pull fetches
  /// it.
  Result<void> verify_lent(const ImageSource& source, const LayerBlob& layer) {
    auto verified = verify_layer(source, layer);
    if (verified) return {};
    OCIRUN_TRY_ASSIGN(const bool was_lent, take_back(store_, directory_, *layer.digest));
    if (!was_lent) return verified;
    return within(std::move(verified),
                  "the store had a damaged layer, which is removed now: pull again");
  }

  const Store& store_;
  const Origin& origin_;
  const Pulling& pulling_;
  SkopeoAccess access_;
  Fd directory_;
  const HostPath& path_;
  Descriptor top_;
};

}  // namespace

Result<void> receive(const Store& store, const Origin& origin, const PullRequest& request,
                     Fd directory, const HostPath& path) {
  return Arrival(store, origin, request, directory, path).run();
}

}  // namespace ocirun::pods
