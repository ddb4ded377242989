#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/manifest.hpp"

namespace ocirun::pods {

/// Bytes that are read once, from front to back.
class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  /// Reads up to `size` bytes to `to`. 0 at the end, only there.
  virtual Result<std::size_t> read(char* to, std::size_t size) = 0;
  /// Passes over up to `size` bytes and returns how many; 0 if the stream has to be read instead.
  virtual std::uint64_t skip(std::uint64_t /*size*/) { return 0; }

 protected:
  ByteStream(ByteStream&&) noexcept = default;
};

/// Bytes of a regular file, from a place of it on. The offset of the open file is not used, so that
/// several ranges can read one open file.
class FileRange : public ByteStream {
 public:
  static constexpr std::uint64_t kToTheEnd = UINT64_MAX;

  explicit FileRange(UniqueFd file, std::uint64_t offset = 0, std::uint64_t size = kToTheEnd)
      : file_(std::move(file)), offset_(offset), size_(size) {}
  Result<std::size_t> read(char* to, std::size_t size) override;
  std::uint64_t skip(std::uint64_t size) override;

  Fd file() const { return file_; }
  std::uint64_t offset() const { return offset_; }  // of the next byte, in the file
  std::uint64_t size() const { return size_; }      // what is left

 private:
  UniqueFd file_;
  std::uint64_t offset_, size_;
};

/// Passes the bytes of another stream on, and computes their digest and number on the way.
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

/// Reads a stream to its end and forgets the bytes.
Result<void> drain(ByteStream& stream);

/// The whole of a stream of at most `limit` bytes. Errors: EFBIG.
Result<std::string> read_whole(ByteStream& stream, std::size_t limit);

/// Documents are read whole before a byte of them is used, therefore their size is limited.
inline constexpr std::size_t kMaxDocument = std::size_t{4} << 20;

/// The whole of a blob, whose size and digest were verified. Errors: more than kMaxDocument bytes;
/// another size or digest than the descriptor says.
Result<std::string> read_verified(ByteStream& stream, const Descriptor& descriptor);

}  // namespace ocirun::pods
