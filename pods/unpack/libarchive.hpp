#pragma once

// libarchive's reader on top of a ByteStream.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pods/images/byte_stream.hpp"
#include "pods/images/layer.hpp"
#include "pods/images/manifest.hpp"

struct archive;
struct archive_entry;

namespace ocirun::pods {

/// Owns a `struct archive` that reads from a ByteStream, which must outlive it. The caller enables
/// formats and filters, then calls open().
class ArchiveHandle {
 public:
  explicit ArchiveHandle(ByteStream& source);
  ArchiveHandle(const ArchiveHandle&) = delete;
  ArchiveHandle& operator=(const ArchiveHandle&) = delete;
  ~ArchiveHandle();

  ::archive* get() const { return archive_; }
  Result<void> open();
  /// The error that the last call left: the stream's own, if reading failed, or libarchive's text.
  Error error() const;
  /// Whether the stream was read to its end.
  bool has_ended() const { return has_ended_; }

 private:
  static ssize_t read_block(::archive*, void* handle, const void** block);
  static std::int64_t skip_bytes(::archive*, void* handle, std::int64_t size);

  ByteStream& source_;
  ::archive* archive_;
  std::array<char, std::size_t{64} << 10> block_;
  std::optional<Error> failure_;
  bool has_ended_ = false;
};

/// A text of libarchive; "" where it gives none.
inline std::string text_of(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

TarEntry::Type type_of(::archive_entry* entry);

/// Names in pax headers are UTF-8. In the C locale libarchive warns of each that is not ASCII, and
/// this warning takes the place of an earlier one about the same header. Makes UTF-8 the encoding
/// of the calling thread, if the host has the locale C.UTF-8 and the process still sees it.
void expect_utf8_names();

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
