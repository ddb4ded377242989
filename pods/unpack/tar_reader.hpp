#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/images/byte_stream.hpp"
#include "pods/images/media_type.hpp"

namespace ocirun::pods {

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

/// Reads a tar archive (v7, ustar, pax, GNU; sparse files) that is not compressed. libarchive reads
/// the format, and bounds the headers of an entry by itself: 1 MiB of pax attributes, 32 headers.
/// The zeros after the content of the last entry may be missing, as in layers of `umoci insert`.
class TarReader {
 public:
  /// `source` must outlive the reader.
  explicit TarReader(ByteStream& source);
  TarReader(TarReader&&) noexcept;
  ~TarReader();

  /// The next entry; nothing at the archive's end. Errors: a damaged archive; an ACL with a name
  /// instead of a number.
  Result<std::optional<TarEntry>> next();

  /// A piece of the current file's content. `data` is valid until the next call.
  struct Piece {
    std::uint64_t offset = 0;  // in the file; between pieces are holes
    std::string_view data;
  };
  /// The next piece; nothing at the file's end.
  Result<std::optional<Piece>> read_piece();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The uncompressed bytes of `source` (libarchive: gzip, zstd), which must outlive the stream.
/// Reads all members of a file that was concatenated. Errors of read(): damaged data.
class DecompressedStream : public ByteStream {
 public:
  /// `compression` is what the bytes are said to be. Reading fails if they are something else.
  DecompressedStream(ByteStream& source, Compression compression);
  ~DecompressedStream() override;
  Result<std::size_t> read(char* to, std::size_t size) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A stream whose first bytes were looked at.
class PeekedStream : public ByteStream {
 public:
  explicit PeekedStream(ByteStream& source) : source_(source) {}
  /// The first `size` bytes; fewer if the stream is shorter. Must be called before read().
  Result<std::string_view> peek(std::size_t size);
  Result<std::size_t> read(char* to, std::size_t size) override;

 private:
  ByteStream& source_;
  std::string first_;
  std::size_t given_ = 0;
};

}  // namespace ocirun::pods
