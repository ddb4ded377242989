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
#include "pods/images/byte_stream.hpp"
#include "pods/images/digest.hpp"
#include "pods/images/manifest.hpp"

namespace ocirun::pods {

/// What the name of a layer's entry asks for (layer.md#whiteouts).
enum class NameKind : std::uint8_t {
  kRoot,      // the layer's root directory itself
  kFile,      // an entry of the file system
  kWhiteout,  // ".wh.NAME": hide NAME of the layers below
  kOpaque     // ".wh..wh..opq": hide everything that the layers below have in the directory
};

struct EntryName {
  NameKind kind = NameKind::kRoot;
  std::string parent;  // "a/b", "" for the root; components without ".", ".." and empty ones
  std::string name;    // of kFile; the hidden NAME of kWhiteout
  std::string path() const { return parent.empty() ? name : parent + "/" + name; }
};

/// Longest names, in bytes: the kernel has the same limits for one path and one component. And the
/// most components of a name, because each of them may become a directory.
struct NameLimits {
  std::size_t path = 4095;
  std::size_t component = 255;
  std::size_t depth = 255;
};

/// Reads a name as a tar archive has it: an absolute name is relative to the layer's root, "." and
/// empty components do not count. Errors: ".."; a name that is too long or too deep; a whiteout
/// that hides nothing, "." or ".."; ".wh." inside a path; the other names that AUFS reserved for
/// itself.
Result<EntryName> parse_entry_name(std::string_view text, const NameLimits& limits);

/// The header of one entry of a tar archive. All names are the archive's bytes: they may be
/// absolute, contain "..", line breaks or anything else but NUL.
struct TarEntry {
  enum class Type : std::uint8_t {
    kFile,
    kDirectory,
    kSymlink,
    kHardLink,
    kCharacterDevice,
    kBlockDevice,
    kFifo,
    kOther  // a socket, or what the archive invented
  };
  Type type = Type::kFile;
  std::string name;
  std::string target;      // of a symlink; of a hard link, the name of an earlier entry
  std::uint64_t size = 0;  // bytes of a file, holes included
  mode_t mode = 0;         // 07777
  std::int64_t uid = 0, gid = 0;
  timespec accessed{}, modified{};  // `accessed` equals `modified` if the archive does not say it
  std::uint64_t device_major = 0, device_minor = 0;
  std::vector<std::pair<std::string, std::string>>
      xattrs;  // posix ACLs too, as the kernel wants them
};

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
