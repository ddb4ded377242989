#pragma once

#include <span>

#include "pods/images/layer.hpp"

namespace ocirun::pods {

/// Like unpack_layer(), in a child process, because libarchive and its decompressors read what a
/// stranger wrote. The child has only the descriptors that it needs, 512 MiB of memory beyond what
/// the caller has, none but the capabilities that unpacking takes, and, where the caller may make a
/// mount namespace, sees nothing but `into` and, read-only, `below`. It ends with the caller, and
/// keeps `locks` open until then.
///
/// The caller must have a single thread, and `blob` must need no other file than its descriptor().
/// Additional errors: the child was killed, or needs more memory; then `into` is not empty.
Result<UnpackedLayer> unpack_layer_apart(ByteStream& blob, const LayerBlob& layer, Fd into,
                                         const LowerLayers& below, const UnpackOptions& options,
                                         std::span<const Fd> locks = {});

}  // namespace ocirun::pods
