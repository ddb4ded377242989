#include "pods/images/stored_layout.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/directories.hpp"
#include "pods/images/store_locks.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kIndexFile = "index.json";
constexpr const char* kBlobs = "blobs";
constexpr const char* kRefName = "org.opencontainers.image.ref.name";
constexpr const char* kBlobAlgorithms[] = {"sha256", "sha512"};

std::string text_of_index(const std::vector<Descriptor>& entries) {
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kIndented);
  out.begin_object().member("schemaVersion", 2).key("manifests").begin_array();
  for (const Descriptor& entry : entries) {
    out.begin_object().member("mediaType", entry.media_type);
    out.member("digest", entry.digest.text()).member("size", entry.size);
    out.key("annotations").begin_object();
    for (const auto& [key, value] : entry.annotations) out.member(key, value);
    out.end_object().end_object();
  }
  out.end_array().end_object();
  return std::move(out).take();
}

Result<void> write_index(Fd layout, const std::vector<Descriptor>& entries) {
  OCIRUN_TRY(linux::replace_file(layout, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}", 0600));
  return linux::replace_file(layout, kIndexFile, text_of_index(entries), 0600);
}

Result<std::vector<Descriptor>> read_entries(Fd layout) {
  const auto text = linux::read_file(layout, kIndexFile, kMaxDocument, O_NOFOLLOW);
  if (is_missing(text)) return std::vector<Descriptor>();
  if (!text) return std::unexpected(text.error());
  OCIRUN_TRY_ASSIGN(Index index, parse_index(kIndexFile, *text));
  return std::move(index.manifests);
}

Descriptor with_name(Descriptor entry, const std::string& name) {
  entry.annotations = {{kRefName, name}};
  return entry;
}

/// Opens blobs/ALGORITHM of a layout, and makes it if it is missing.
Result<UniqueFd> open_blobs(Fd layout, std::string_view algorithm) {
  OCIRUN_TRY_ASSIGN(const UniqueFd blobs, linux::open_or_make_directory(layout, kBlobs, 0700));
  return linux::open_or_make_directory(blobs, std::string(algorithm).c_str(), 0700);
}

/// index.json is replaced under this lock. No layer has this digest.
Digest lock_of_index() { return digest_of("index.json of the image store"); }

Result<void> enter(const Store& store, const Descriptor& entry, const std::string& name) {
  OCIRUN_TRY_ASSIGN(LayerLocks locks, LayerLocks::open(store.fd()));
  OCIRUN_TRY(locks.take(lock_of_index()));
  OCIRUN_TRY_ASSIGN(std::vector<Descriptor> entries, read_entries(store.fd()));
  std::erase_if(entries, [&](const Descriptor& other) {
    const auto found = other.annotations.find(kRefName);
    return found != other.annotations.end() && found->second == name;
  });
  entries.push_back(with_name(entry, name));
  return write_index(store.fd(), entries);
}

/// Removes the blobs that are not in `used`.
Result<void> remove_blobs(const Store& store, const std::set<std::string>& used) {
  for (const char* algorithm : kBlobAlgorithms) {
    OCIRUN_TRY_ASSIGN(const UniqueFd blobs, open_blobs(store.fd(), algorithm));
    std::vector<std::string> unused;
    OCIRUN_TRY(linux::for_each_entry(blobs, [&](const char* name, unsigned char) -> Result<void> {
      if (!used.contains(fmt::format("{}:{}", algorithm, name))) unused.emplace_back(name);
      return {};
    }));
    for (const std::string& name : unused) OCIRUN_TRY(linux::remove_tree(blobs, name.c_str()));
  }
  return {};
}

}  // namespace

Result<std::optional<ImageSource>> open_pulled(const Store& store) {
  const auto index = sys::fstatat(store.fd(), kIndexFile);
  if (is_missing(index)) return std::nullopt;
  if (!index) return std::unexpected(index.error());
  OCIRUN_TRY_ASSIGN(ImageSource source, ImageSource::open(store.path()));
  return source;
}

Result<void> write_layout(Fd layout, const Descriptor& top, const std::string& name) {
  return write_index(layout, {with_name(top, name)});
}

Result<void> lend_blobs(const Store& store, Fd layout, const std::vector<Digest>& blobs) {
  for (const Digest& blob : blobs) {
    OCIRUN_TRY_ASSIGN(const UniqueFd from, open_blobs(store.fd(), blob.algorithm_name()));
    OCIRUN_TRY_ASSIGN(const UniqueFd to, open_blobs(layout, blob.algorithm_name()));
    const auto lent = sys::linkat(from, blob.hex().c_str(), to, blob.hex().c_str());
    if (!lent && lent.error().number() != ENOENT && lent.error().number() != EEXIST)
      return std::unexpected(lent.error());
  }
  return {};
}

Result<UniqueFd> open_incoming(const Store& store) {
  return linux::open_or_make_directory(store.fd(), kIncoming, 0700);
}

Result<bool> take_back(const Store& store, Fd layout, const Digest& blob) {
  OCIRUN_TRY_ASSIGN(const UniqueFd from, open_blobs(store.fd(), blob.algorithm_name()));
  OCIRUN_TRY_ASSIGN(const UniqueFd to, open_blobs(layout, blob.algorithm_name()));
  const auto kept = sys::fstatat(from, blob.hex().c_str());
  const auto lent = sys::fstatat(to, blob.hex().c_str());
  if (!kept || !lent || kept->st_ino != lent->st_ino) return false;
  OCIRUN_TRY(sys::unlinkat(from, blob.hex().c_str(), 0));
  return true;
}

Result<void> keep_pulled(const Store& store, Fd layout, const std::vector<Digest>& blobs,
                         const Descriptor& top, const std::string& name) {
  for (const Digest& blob : blobs) {
    OCIRUN_TRY_ASSIGN(const UniqueFd from, open_blobs(layout, blob.algorithm_name()));
    OCIRUN_TRY_ASSIGN(const UniqueFd to, open_blobs(store.fd(), blob.algorithm_name()));
    OCIRUN_TRY(sys::renameat2(from, blob.hex().c_str(), to, blob.hex().c_str(), 0));
  }
  OCIRUN_TRY(sys::syncfs(store.fd()));
  return enter(store, top, name);
}

Result<void> prune_pulled(const Store& store, const std::vector<std::string>& keep) {
  OCIRUN_TRY_ASSIGN(const UniqueFd incoming, open_incoming(store));
  OCIRUN_TRY(linux::remove_content(incoming));
  OCIRUN_TRY_ASSIGN(const auto source, open_pulled(store));
  if (!source) return {};
  OCIRUN_TRY_ASSIGN(const std::vector<Descriptor> entries, read_entries(store.fd()));
  std::vector<Descriptor> kept;
  std::set<std::string> used;
  for (const Descriptor& entry : entries) {
    // An image that cannot be read can be pulled again.
    const auto image = source->find({.reference = entry.digest.text()});
    if (!image || std::ranges::find(keep, image->digest.text()) == keep.end()) continue;
    kept.push_back(entry);
    for (const Digest& blob : blobs_of(*image, entry.digest)) used.insert(blob.text());
  }
  OCIRUN_TRY(write_index(store.fd(), kept));
  return remove_blobs(store, used);
}

std::vector<Digest> blobs_of(const Image& image, const Digest& top) {
  std::vector<Digest> blobs{top};
  const auto add = [&](const Digest& digest) {
    if (std::ranges::find(blobs, digest) == blobs.end()) blobs.push_back(digest);
  };
  add(image.digest);
  add(image.config_id);
  for (const LayerBlob& layer : image.layers)
    if (layer.digest) add(*layer.digest);
  return blobs;
}

}  // namespace ocirun::pods
