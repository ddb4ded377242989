#pragma once

#include <functional>
#include <span>

#include "linux/process/clone.hpp"
#include "pods/images/layer.hpp"
#include "pods/images/source_files.hpp"

// Archives are read in a process of the program ocirun-unpack, because libarchive and its
// decompressors read untrusted bytes. The process has only the descriptors and system calls that it
// needs, 512 MiB of memory and, where the caller may make them, pid, network and ipc namespaces of
// its own. It is killed when the caller ends. The caller must have a single thread.

namespace ocirun::pods {

/// Unpacks a layer as unpack/unpack_layer.hpp says. The process has only the capabilities that
/// unpacking needs. Where the caller may make a mount namespace, the process sees only `into` and,
/// read-only, `below`. It keeps `locks` open until its end. Additional errors: the process was
/// killed, or needs more memory; `into` is then not empty.
Result<UnpackedLayer> unpack_layer_apart(const FileRange& blob, const LayerBlob& layer, Fd into,
                                         const LowerLayers& below, const UnpackOptions& options,
                                         std::span<const Fd> locks = {});

/// Waits for a process that unpacks a layer, and returns what the process has reported.
Result<UnpackedLayer> outcome_of(const linux::Child& child, UniqueFd report, const LayerBlob& layer,
                                 const std::function<void(std::uint64_t)>& progress);

/// Reads the headers of a tar archive, which is a regular file. Uncompresses a compressed archive
/// into the empty file `plain`; the index then says the places in `plain`. The process has no
/// capability and sees no file; its user is 65534 where that is possible. Errors: a damaged
/// archive; more bytes or entries than `limits`; those of TarIndex::add().
Result<TarIndex> index_archive_apart(Fd archive, Compression compression, Fd plain,
                                     const SourceLimits& limits);

}  // namespace ocirun::pods
