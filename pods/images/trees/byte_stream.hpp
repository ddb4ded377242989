#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/documents/model/digest.hpp"

namespace ocirun::pods {

/// How many bytes of an archive or a layer are read at once.
inline constexpr std::size_t kBlockSize = std::size_t{64} << 10;

/// A source of bytes, which are read once, from front to back.
class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  /// Reads up to `size` bytes to `to`, and returns how many. Returns 0 only at the end.
  virtual Result<std::size_t> read(char* to, std::size_t size) = 0;
  /// Skips up to `size` bytes, and returns how many. Returns 0 at the end, and where
  /// the stream cannot skip: then the caller reads.
  virtual std::uint64_t skip(std::uint64_t /*size*/) { return 0; }

 protected:
  ByteStream(ByteStream&&) noexcept = default;
};

/// The bytes of a regular file from an offset on. Reads with pread(2), so that several ranges can
/// share one open file.
class FileRange : public ByteStream {
 public:
  static constexpr std::uint64_t kToTheEnd = UINT64_MAX;

  explicit FileRange(UniqueFd file, std::uint64_t offset = 0, std::uint64_t size = kToTheEnd)
      : file_(std::move(file)), offset_(offset), size_(size) {}
  Result<std::size_t> read(char* to, std::size_t size) override;
  std::uint64_t skip(std::uint64_t size) override;

  Fd file() const { return file_; }
  std::uint64_t offset() const { return offset_; }  // of the next byte, in the file
  std::uint64_t size() const { return size_; }      // bytes that were not read yet

 private:
  UniqueFd file_;
  std::uint64_t offset_, size_;
};

/// Reads from another stream, and computes the digest and the number of the bytes on the way.
class HashingStream : public ByteStream {
 public:
  /// Reading fails as soon as there are more than `most` bytes.
  HashingStream(ByteStream& source, Digest::Algorithm algorithm, std::uint64_t most = UINT64_MAX)
      : source_(source), hasher_(algorithm), most_(most) {}
  Result<std::size_t> read(char* to, std::size_t size) override;

  std::uint64_t size() const { return size_; }
  Digest finish() { return hasher_.finish(); }

 private:
  ByteStream& source_;
  Hasher hasher_;
  std::uint64_t most_, size_ = 0;
};

/// Reads a stream to its end, and discards the bytes.
Result<void> drain(ByteStream& stream);

/// Reads a whole stream. Errors: EFBIG for more than `limit` bytes.
Result<std::string> read_whole(ByteStream& stream, std::size_t limit);

/// The largest document, in bytes. A document is read whole before anything in it is used.
inline constexpr std::size_t kMaxDocument = std::size_t{4} << 20;

}  // namespace ocirun::pods
