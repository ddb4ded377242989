#include "pods/images/trees/byte_stream.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace ocirun::pods {

Result<std::size_t> FileRange::read(char* to, std::size_t size) {
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(size, size_));
  for (;;) {
    const ssize_t got = ::pread(file_.get(), to, most, static_cast<off_t>(offset_));
    if (got >= 0) {
      offset_ += static_cast<std::uint64_t>(got);
      if (size_ != kToTheEnd) size_ -= static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR) return fail(errno, "read");
  }
}

/// Skips nothing beyond the end of the file, so that reading notices an archive that ends early.
std::uint64_t FileRange::skip(std::uint64_t size) {
  struct stat info{};
  if (::fstat(file_.get(), &info) != 0) return 0;
  const auto end = static_cast<std::uint64_t>(info.st_size);
  const std::uint64_t left = offset_ < end ? std::min(size_, end - offset_) : 0;
  const std::uint64_t skipped = std::min(size, left);
  offset_ += skipped;
  if (size_ != kToTheEnd) size_ -= skipped;
  return skipped;
}

Result<std::size_t> HashingStream::read(char* to, std::size_t size) {
  OCIRUN_TRY_ASSIGN(const std::size_t got, source_.read(to, size));
  hasher_.update(to, got);
  size_ += got;
  if (size_ > most_) return refuse("it has more than {} bytes", most_);
  return got;
}

Result<void> drain(ByteStream& stream) {
  std::array<char, kBlockSize> block;
  for (;;) {
    OCIRUN_TRY_ASSIGN(const std::size_t got, stream.read(block.data(), block.size()));
    if (got == 0) return {};
  }
}

Result<std::string> read_whole(ByteStream& stream, std::size_t limit) {
  std::string text;
  std::array<char, kBlockSize> block;
  for (;;) {
    OCIRUN_TRY_ASSIGN(const std::size_t got, stream.read(block.data(), block.size()));
    if (got == 0) return text;
    if (got > limit - text.size()) return fail(EFBIG, "it has more than {} bytes", limit);
    text.append(block.data(), got);
  }
}

}  // namespace ocirun::pods
