#pragma once

#include <functional>
#include <span>

#include "linux/process/clone.hpp"
#include "pods/images/layer.hpp"
#include "pods/images/source_files.hpp"

// Archives are read in a process of the program ocirun-unpack, because libarchive and its
// decompressors read what a stranger wrote. The process has only the descriptors and may make only
// the system calls that it needs, has 512 MiB of memory and, where the caller may make them, pid,
// network and ipc namespaces of its own. It ends with the caller, which must have a single thread.

namespace ocirun::pods {

/// Unpacks a layer as unpack/unpack_layer.hpp says. The process has none but the capabilities that
/// unpacking takes, sees nothing but `into` and, read-only, `below`, where the caller may make a
/// mount namespace, and keeps `locks` open until its end. Additional errors: the process was
/// killed, or needs more memory; then `into` is not empty.
Result<UnpackedLayer> unpack_layer_apart(const FileRange& blob, const LayerBlob& layer, Fd into,
                                         const LowerLayers& below, const UnpackOptions& options,
                                         std::span<const Fd> locks = {});

/// What a process reports that unpacks a layer, and its end.
Result<UnpackedLayer> outcome_of(const linux::Child& child, UniqueFd report, const LayerBlob& layer,
                                 const std::function<void(std::uint64_t)>& progress);

/// Reads the headers of a tar archive, a regular file. A compressed archive is uncompressed into
/// `plain`, an empty file, and the index says the places in there. The process has no capability
/// and sees no file; its user is 65534 where that is possible. Errors: a damaged archive; more
/// bytes or entries than `limits`; those of TarIndex::add().
Result<TarIndex> index_archive_apart(Fd archive, Compression compression, Fd plain,
                                     const SourceLimits& limits);

}  // namespace ocirun::pods
