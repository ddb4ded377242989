#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/byte_stream.hpp"
#include "pods/images/digest.hpp"
#include "pods/images/entry_name.hpp"
#include "pods/images/media_type.hpp"

namespace ocirun::pods {

/// What one layer may hold, against archives that are small and unpack to more than a disk has.
struct LayerLimits {
  std::uint64_t entries = 1'000'000;
  /// Of the uncompressed archive, and of all files together with their holes.
  std::uint64_t bytes = std::uint64_t{64} << 30;
  NameLimits names;
};

/// What all layers of an image may hold together.
struct ImageLimits {
  std::uint64_t entries = 4'000'000;
  std::uint64_t bytes = std::uint64_t{256} << 30;  // of all files together with their holes
};

/// Which extended attribute tells overlayfs that a directory hides those below it. kUser is for a
/// mount with the option userxattr, in a user namespace. Whiteouts are character devices 0:0 with
/// both: everybody may make them since Linux 5.8.
enum class OpaqueMark : std::uint8_t { kTrusted, kUser };
const char* attribute_name(OpaqueMark mark);

/// kLeaveOut: in a user namespace nobody may make a device. The number that was left out is told. A
/// whiteout takes the place of such a device where a layer below has the name.
enum class DeviceNodes : std::uint8_t { kMake, kLeaveOut };

/// One layer as an image describes it.
struct LayerBlob {
  std::string file;                        // its name in the source, for messages too
  std::optional<Digest> digest;            // of the blob; archives of `docker save` do not say it
  std::uint64_t size = 0;                  // bytes of the blob, if `digest` is there
  std::optional<Compression> compression;  // nothing: what the content shows
  Digest diff_id{Digest::Algorithm::kSha256, ""};  // of the uncompressed archive
};

/// The layer in a message: its digest, or its name in quotes.
std::string shown_name(const LayerBlob& layer);

struct UnpackedLayer {
  std::uint64_t entries = 0;  // those of the archive, and directories that it only implies
  std::uint64_t bytes = 0;    // of all files
  std::uint64_t devices_left_out = 0;
  std::uint64_t attributes_left_out = 0;
};

struct UnpackOptions {
  LayerLimits limits;
  OpaqueMark mark = OpaqueMark::kTrusted;
  DeviceNodes devices = DeviceNodes::kMake;
  /// Called now and then with the number of the blob's bytes that were read so far; may be empty.
  std::function<void(std::uint64_t)> progress;
  ImageLimits image;
  UnpackedLayer before;  // the sums of the image's layers that were unpacked before this one
};

/// The layers beneath one, unpacked likewise: their names in `directory`, the nearest first. Each
/// is opened when something is looked up in it.
struct LowerLayers {
  Fd directory;
  std::vector<std::string> names;
};

}  // namespace ocirun::pods
