#include "pods/images/unpack/unpack_layer.hpp"

#include <algorithm>

#include "bundle/json/writer.hpp"
#include "linux/files/directories.hpp"
#include "pods/images/unpack/layer_tree.hpp"
#include "pods/images/unpack/libarchive.hpp"
#include "pods/images/unpack/tar_reader.hpp"

namespace ocirun::pods {
namespace {

constexpr std::uint64_t kEntriesBetweenProgress = 64;

Result<void> add_entries(TarReader& archive, LayerTree& tree, const HashingStream& blob,
                         const UnpackOptions& options) {
  for (std::uint64_t number = 1;; ++number) {
    OCIRUN_TRY_ASSIGN(const auto entry, archive.next());
    if (!entry) return {};
    OCIRUN_TRY(within(tree.add(*entry, archive), "entry {}", bundle::in_quotes(entry->name)));
    if (options.progress && number % kEntriesBetweenProgress == 0) options.progress(blob.size());
  }
}

/// The digests are those of the whole layer only when both streams were read to their ends.
Result<void> verify(const LayerBlob& layer, HashingStream& blob, HashingStream& archive) {
  if (layer.digest && blob.size() != layer.size)
    return refuse("it has {} bytes, its descriptor says {}", blob.size(), layer.size);
  if (layer.digest) {
    const Digest digest = blob.finish();
    if (digest != *layer.digest)
      return refuse("its content has the digest {}, it was changed or damaged", digest.text());
  }
  const Digest diff_id = archive.finish();
  if (diff_id != layer.diff_id)
    return refuse("uncompressed it has the digest {}, the image's configuration says {}",
                  diff_id.text(), layer.diff_id.text());
  return {};
}

Result<UnpackedLayer> unpack(ByteStream& source, const LayerBlob& layer, Fd into,
                             const LowerLayers& below, const UnpackOptions& options) {
  const auto algorithm = layer.digest.value_or(layer.diff_id).algorithm();
  HashingStream blob(source, algorithm, layer.digest ? layer.size : UINT64_MAX);
  PeekedStream peeked(blob);
  OCIRUN_TRY_ASSIGN(const std::string_view first, peeked.peek(4));
  DecompressedStream plain(peeked, layer.compression.value_or(compression_of(first)));
  HashingStream archive(plain, layer.diff_id.algorithm(),
                        std::min(options.limits.bytes, options.image.bytes));
  UnpackedLayer out;
  {
    TarReader reader(archive);
    OCIRUN_TRY_ASSIGN(LayerTree tree, LayerTree::open(into, below, options));
    OCIRUN_TRY(add_entries(reader, tree, blob, options));
    OCIRUN_TRY(tree.finish());
    out = tree.sums();
  }
  OCIRUN_TRY(drain(archive));
  OCIRUN_TRY(drain(blob));
  OCIRUN_TRY(verify(layer, blob, archive));
  if (options.progress) options.progress(blob.size());
  return out;
}

}  // namespace

Result<UnpackedLayer> unpack_layer(ByteStream& blob, const LayerBlob& layer, Fd into,
                                   const LowerLayers& below, const UnpackOptions& options) {
  auto unpacked = unpack(blob, layer, into, below, options);
  if (unpacked) return unpacked;
  const std::string name = shown_name(layer);
  if (auto removed = linux::remove_content(into); !removed)
    return refuse("layer {}: {}; what was unpacked of it remains: {}", name,
                  unpacked.error().message(), removed.error().message());
  return within(std::move(unpacked), "layer {}", name);
}

}  // namespace ocirun::pods
