#include "pods/registry/pull.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/images/directories.hpp"
#include "pods/images/read_json.hpp"
#include "pods/images/store_locks.hpp"
#include "pods/images/stored_layout.hpp"
#include "pods/registry/skopeo.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::uint64_t kMostDocuments = std::uint64_t{64} << 20;  // bytes beside the layers
constexpr const char* kIndexType = "application/vnd.oci.image.index.v1+json";
constexpr const char* kManifestType = "application/vnd.oci.image.manifest.v1+json";

/// Whoever fetches an image has this lock. No layer has this digest.
Digest lock_of(const Origin& origin) { return digest_of("pull " + origin.name); }

/// The name of a directory for one pull: the digits of the lock, and those of this process.
std::string directory_name(const Digest& lock) {
  return fmt::format("{}-{}-{}", lock.hex(), ::getpid(),
                     std::chrono::steady_clock::now().time_since_epoch().count());
}

/// Removes the directories of pulls whose locks nobody has: the processes have ended. A directory
/// that cannot be removed now is removed by the next pull, or by prune. `own`: the lock that the
/// caller has.
Result<void> remove_leftovers(const Store& store, Fd incoming, const Digest& own) {
  std::vector<std::string> names;
  TRY(linux::for_each_entry(incoming, [&](const char* name, unsigned char) -> Result<void> {
    names.emplace_back(name);
    return {};
  }));
  TRY_ASSIGN(LayerLocks locks, LayerLocks::open(store.fd()));
  for (const std::string& name : names) {
    const auto lock = Digest::parse("sha256:" + name.substr(0, name.find('-')));
    const bool is_own = lock && *lock == own;
    if (lock && !is_own && !locks.try_take(*lock).value_or(false)) continue;
    static_cast<void>(remove_tree(incoming, name.c_str()));
    if (lock && !is_own) locks.release(*lock);
  }
  return {};
}

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

/// The media type of a manifest or an index, which only the answer of the registry has to name.
Result<std::string> type_of(std::string_view text) {
  TRY_ASSIGN(const DocumentType type, read_json<DocumentType>("its manifest", text, kDocumentType));
  if (!type.media_type.empty()) return type.media_type;
  return std::string(type.has_manifests ? kIndexType : kManifestType);
}

/// Verifies the digest and the size of a layer that has arrived.
Result<void> verify_layer(const ImageSource& source, const LayerBlob& layer) {
  auto verified = [&]() -> Result<void> {
    TRY_ASSIGN(FileRange file, source.open_layer(layer));
    HashingStream stream(file, layer.digest->algorithm(), layer.size);
    TRY(drain(stream));
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
class Pull {
 public:
  /// `directory`: a new directory at `path`, on the filesystem of the store.
  Pull(const Store& store, const Origin& origin, const PullRequest& request, Fd directory,
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
      TRY(copy_from_registry());
    } else {
      TRY(copy_from_this_machine());
    }
    TRY(write_layout(directory_, top_, origin_.name));
    TRY_ASSIGN(const ImageSource source, ImageSource::open(path_));
    TRY_ASSIGN(const Image image, source.find({.reference = top_.digest.text()}));
    for (const LayerBlob& layer : image.layers) TRY(verify_lent(source, layer));
    return keep_pulled(store_, directory_, blobs_of(image, top_.digest), top_, origin_.name);
  }

 private:
  /// Chooses the manifest for this machine as for every other source, and lets skopeo copy it by
  /// its digest.
  Result<void> copy_from_registry() {
    TRY_ASSIGN(const std::string first, fetch(origin_.address, origin_.in_registry->digest, top_));
    TRY(write_layout(directory_, top_, origin_.name));
    TRY_ASSIGN(const ImageSource source, ImageSource::open(path_));
    TRY_ASSIGN(Descriptor chosen, source.find_manifest({.reference = top_.digest.text()}));
    const std::string address = origin_.address_of(chosen.digest);
    std::string text = first;
    if (chosen.digest != top_.digest) {
      TRY_ASSIGN(text, fetch(address, Digest(chosen.digest), chosen));
    }
    TRY_ASSIGN(const Manifest manifest, parse_manifest("manifest " + chosen.digest.text(), text));
    std::uint64_t bytes = kMostDocuments;
    std::vector<Digest> blobs{manifest.config.digest};
    for (const Descriptor& layer : manifest.layers) {
      if (layer.size > ImageLimits().bytes || (bytes += layer.size) > ImageLimits().bytes)
        return refuse("its layers have more than {} bytes", ImageLimits().bytes);
      blobs.push_back(layer.digest);
    }
    TRY(lend_blobs(store_, directory_, blobs));
    return copy(address, bytes, true);
  }

  Result<void> copy_from_this_machine() {
    TRY(copy(origin_.address, ImageLimits().bytes, false));
    TRY_ASSIGN(const std::string text,
               linux::read_file(directory_, "index.json", kMaxDocument, O_NOFOLLOW));
    TRY_ASSIGN(const Index index, parse_index("index.json", text));
    if (index.manifests.size() != 1)
      return refuse("skopeo has written {} images instead of one", index.manifests.size());
    top_ = index.manifests.front();
    return {};
  }

  /// Fetches a manifest or an index, keeps it as a blob, and describes it in `descriptor`.
  /// `wanted`: the digest that it must have.
  Result<std::string> fetch(const std::string& address, const std::optional<Digest>& wanted,
                            Descriptor& descriptor) {
    TRY_ASSIGN(std::string text, run_skopeo(pulling_, inspect_words(address, access_), directory_,
                                            {pulling_.patience, kMostDocuments}, false));
    const Digest digest =
        digest_of(text, wanted ? wanted->algorithm() : Digest::Algorithm::kSha256);
    if (wanted && digest != *wanted)
      return refuse("the registry has sent a manifest with the digest {} for {}", digest.text(),
                    wanted->text());
    TRY_ASSIGN(descriptor.media_type, type_of(text));
    descriptor.digest = digest;
    descriptor.size = text.size();
    TRY_ASSIGN(const UniqueFd blobs, open_or_make_directory(directory_, "blobs", 0700));
    TRY_ASSIGN(const UniqueFd place,
               open_or_make_directory(blobs, std::string(digest.algorithm_name()).c_str(), 0700));
    TRY(linux::replace_file(place, digest.hex(), text, 0600));
    return text;
  }

  Result<void> copy(const std::string& address, std::uint64_t bytes, bool keeps_digests) {
    TRY(run_skopeo(pulling_, copy_words(address, path_.string(), access_, keeps_digests),
                   directory_, {pulling_.patience, bytes}, true));
    return {};
  }

  /// A layer of the store that is damaged is removed from the store, so that the next pull fetches
  /// it.
  Result<void> verify_lent(const ImageSource& source, const LayerBlob& layer) {
    auto verified = verify_layer(source, layer);
    if (verified) return {};
    TRY_ASSIGN(const bool was_lent, take_back(store_, directory_, *layer.digest));
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

Result<void> pull_alone(const Store& store, const Origin& origin, const PullRequest& request) {
  const Digest lock = lock_of(origin);
  TRY_ASSIGN(const UniqueFd incoming, open_incoming(store));
  TRY(remove_leftovers(store, incoming, lock));
  const std::string name = directory_name(lock);
  TRY(sys::mkdirat(incoming, name.c_str(), 0700));
  auto pulled = [&]() -> Result<void> {
    TRY_ASSIGN(const UniqueFd directory,
               sys::openat(incoming, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    const HostPath path(fmt::format("{}/{}/{}", store.path().string(), kIncoming, name));
    return Pull(store, origin, request, directory, path).run();
  }();
  const auto removed = remove_tree(incoming, name.c_str());
  return pulled ? removed : pulled;
}

/// Whether the store has the image with all its blobs. An image that is incomplete or damaged is
/// pulled again.
Result<bool> is_pulled(const Store& store, const Origin& origin) {
  TRY_ASSIGN(const auto source, open_pulled(store));
  if (!source) return false;
  const auto image = source->find({.reference = origin.name});
  return image && std::ranges::all_of(image->layers, [&](const LayerBlob& layer) {
           return source->open_layer(layer).has_value();
         });
}

/// Takes the lock, and says on the terminal if another process has it.
Result<void> take_lock(LayerLocks& locks, const Origin& origin, Fd terminal) {
  const Digest lock = lock_of(origin);
  TRY_ASSIGN(const bool is_free, locks.try_take(lock));
  if (is_free) return {};
  if (terminal.value >= 0)
    static_cast<void>(linux::write_all(
        terminal,
        fmt::format("ocirun: another process pulls {}, this one waits\n", origin.shown())));
  return locks.take(lock);
}

Result<void> pull_or_find(const Store& store, const Origin& origin, const PullRequest& request) {
  const bool is_local = !origin.in_registry.has_value();
  const bool may_find =
      request.policy == PullPolicy::kNever || (request.policy == PullPolicy::kMissing && !is_local);
  TRY_ASSIGN(bool is_there, is_pulled(store, origin));
  if (may_find && is_there) return {};
  if (request.policy == PullPolicy::kNever)
    return refuse(
        "the store has no such image, and nothing may be pulled (--pull never, or the "
        "document's imagePullPolicy): `ocirun pod pull {}` fetches it",
        origin.address);
  // skopeo takes no other path.
  if (store.path().string().contains(':'))
    return refuse("the path {} of the store has a \":\": --data names another directory",
                  store.path().string());
  TRY_ASSIGN(LayerLocks locks, LayerLocks::open(store.fd()));
  TRY(take_lock(locks, origin, request.pulling.terminal));
  TRY_ASSIGN(is_there, is_pulled(store, origin));
  if (may_find && is_there) return {};
  auto pulled = pull_alone(store, origin, request);
  if (pulled) return {};
  const std::string advice =
      advice_for(pulled.error().message(), origin.in_registry ? origin.in_registry->host : "");
  return refuse("{}{}", pulled.error().message(), advice);
}

}  // namespace

Result<void> pull(const Store& store, const Origin& origin, const PullRequest& request) {
  auto pulled = [&]() -> Result<void> {
    TRY_ASSIGN(const UniqueFd lease, store.lock());
    return pull_or_find(store, origin, request);
  }();
  return within(std::move(pulled), "pull {}", origin.shown());
}

}  // namespace ocirun::pods
