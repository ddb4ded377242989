#pragma once

#include "pods/images/layer.hpp"
#include "pods/images/trees/byte_stream.hpp"

namespace ocirun::pods {

/// Unpacks a layer into the empty directory `into`, which becomes a lower layer of an overlay
/// (layer.md; whiteouts in overlay's form). A directory that the archive does not list gets its
/// mode, owner, times and attributes from the nearest layer of `below` that has it.
///
/// The caller must be root of its user namespace. Symlinks in the path of an entry are followed as
/// if `into` were "/", never beyond it. Hard links do not lead through symlinks. A hard link may
/// lead to a file of a layer below, which is then copied into this layer. Owners, modes, times and
/// ACLs are kept. Of the extended attributes, files and directories keep security.capability and
/// "user.*"; symlinks, devices and fifos keep none, and no ACL.
///
/// Uses no file of /proc and no path from "/", because the caller may have changed its root.
///
/// Errors, after which `into` is empty again: a damaged archive; digest, size or diff_id differ; a
/// name that parse_entry_name() refuses; a limit; overlay's own attributes or a device 0:0 in the
/// archive; a socket; ENOSPC …. The messages name the layer and the entry.
Result<UnpackedLayer> unpack_layer(ByteStream& blob, const LayerBlob& layer, Fd into,
                                   const LowerLayers& below, const UnpackOptions& options);

}  // namespace ocirun::pods
