#pragma once

// libarchive, reading from a ByteStream.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/unique_fd.hpp"
#include "pods/images/layer.hpp"
#include "pods/images/manifest.hpp"
#include "pods/images/source_files.hpp"
#include "pods/images/trees/byte_stream.hpp"

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
  /// The error of the last call: that of the stream, if reading failed, else libarchive's text.
  Error error() const;
  /// Whether the stream was read to its end.
  bool has_ended() const { return has_ended_; }

 private:
  static ssize_t read_block(::archive*, void* handle, const void** block);
  static std::int64_t skip_bytes(::archive*, void* handle, std::int64_t size);

  ByteStream& source_;
  ::archive* archive_;
  std::array<char, kBlockSize> block_;
  std::optional<Error> failure_;
  bool has_ended_ = false;
};

/// A text from libarchive as a string; "" for nullptr.
inline std::string text_of(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

TarEntry::Type type_of(::archive_entry* entry);

/// Makes UTF-8 the encoding of the calling thread, if the process still sees the locale C.UTF-8 of
/// the host. Names in pax headers are UTF-8. In the C locale libarchive warns of each name that is
/// not ASCII, and this warning replaces an earlier one about the same header.
void expect_utf8_names();

/// The uncompressed bytes of `source` (libarchive: gzip, zstd), which must outlive the stream.
/// Reads all members of a concatenated file. Errors of read(): damaged data.
class DecompressedStream : public ByteStream {
 public:
  /// Reading fails if the bytes do not have this compression.
  DecompressedStream(ByteStream& source, Compression compression);
  ~DecompressedStream() override;
  Result<std::size_t> read(char* to, std::size_t size) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A stream whose first bytes can be looked at before they are read.
class PeekedStream : public ByteStream {
 public:
  explicit PeekedStream(ByteStream& source) : source_(source) {}
  /// Returns the first `size` bytes; fewer if the stream is shorter. Must be called before read().
  Result<std::string_view> peek(std::size_t size);
  Result<std::size_t> read(char* to, std::size_t size) override;

 private:
  ByteStream& source_;
  std::string first_;
  std::size_t given_ = 0;
};

/// Uncompresses `archive` into the empty file `plain`. Errors: damaged data; more than `most`
/// bytes; ENOSPC ….
Result<void> uncompress(ByteStream& archive, Compression compression, Fd plain, std::uint64_t most);

/// Calls `on_member` for each entry of an uncompressed tar archive that is no directory. Errors: a
/// damaged archive; more than `most_entries` entries of any kind; those of `on_member`.
Result<void> index_archive(ByteStream& archive, std::uint64_t most_entries,
                           const std::function<Result<void>(const ArchiveMember&)>& on_member);

}  // namespace ocirun::pods
