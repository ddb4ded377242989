#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/documents/model/digest.hpp"
#include "pods/images/manifest.hpp"
#include "pods/images/trees/entry.hpp"

namespace ocirun::pods {

/// The meaning of the name of a layer's entry (layer.md#whiteouts).
enum class NameKind : std::uint8_t {
  kRoot,      // the layer's root directory itself
  kFile,      // an entry of the file system
  kWhiteout,  // ".wh.NAME": hides NAME of the layers below
  kOpaque     // ".wh..wh..opq": hides everything that the layers below have in the directory
};

struct EntryName {
  NameKind kind = NameKind::kRoot;
  std::string parent;  // "a/b", "" for the root; components without ".", ".." and empty ones
  std::string name;    // of kFile; the hidden NAME of kWhiteout
  std::string path() const { return parent.empty() ? name : parent + "/" + name; }
};

/// The limits of a name: bytes of a path and of a component, as the kernel has them, and
/// components, because each may become a directory.
struct NameLimits {
  std::size_t path = 4095;
  std::size_t component = 255;
  std::size_t depth = 255;
};

/// Parses a name in a tar archive. An absolute name is relative to the layer's root. "." and empty
/// components are ignored. Errors: ".."; a name that is too long or too deep; a whiteout that hides
/// nothing, "." or ".."; ".wh." inside a path; the other names that AUFS reserved for itself.
Result<EntryName> parse_entry_name(std::string_view text, const NameLimits& limits);

/// How much one layer may hold. A small archive could otherwise fill the disk when it is unpacked.
struct LayerLimits {
  std::uint64_t entries = 1'000'000;
  /// Limits the uncompressed archive, and also the sum of all files with their holes.
  std::uint64_t bytes = std::uint64_t{64} << 30;
  NameLimits names;
};

/// How much all layers of an image may hold together.
struct ImageLimits {
  std::uint64_t entries = 4'000'000;
  std::uint64_t bytes = std::uint64_t{256} << 30;  // of all files together with their holes
};

/// One layer as an image describes it.
struct LayerBlob {
  std::string file;                        // its name in the source, for messages too
  std::optional<Digest> digest;            // of the blob; archives of `docker save` have none
  std::uint64_t size = 0;                  // bytes of the blob, if `digest` is there
  std::optional<Compression> compression;  // nothing: to be told from the content
  Digest diff_id;                          // of the uncompressed archive
};

/// The name of a layer in messages: its digest, or its file in quotes.
std::string shown_name(const LayerBlob& layer);

struct UnpackedLayer {
  std::uint64_t entries = 0;  // also directories that the archive only implies
  std::uint64_t bytes = 0;    // of all files
  std::uint64_t devices_left_out = 0;
  std::uint64_t attributes_left_out = 0;
};

struct UnpackOptions {
  LayerLimits limits;
  OpaqueMark mark = OpaqueMark::kTrusted;
  DeviceNodes devices = DeviceNodes::kMake;
  /// Gets from time to time how many bytes of the blob were read. May be empty.
  std::function<void(std::uint64_t)> progress;
  ImageLimits image;
  UnpackedLayer before;  // the sums of the layers of the image that were unpacked earlier
};

/// The unpacked layers below a layer: their names in `directory`, the nearest layer first. A layer
/// is opened when something is looked up in it.
struct LowerLayers {
  Fd directory;
  std::vector<std::string> names;
};

}  // namespace ocirun::pods
