#include "pods/images/archive_files.hpp"

#include <sys/stat.h>

#include <array>
#include <string_view>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/images/tar_index.hpp"
#include "pods/images/tar_reader.hpp"
#include "pods/images/unnamed_file.hpp"

namespace ocirun::pods {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10;

Error too_large(std::uint64_t limit) {
  return Error(0, fmt::format("the archive has more than {} bytes", limit));
}

/// The uncompressed archive, as a file that has no name.
Result<UniqueFd> uncompressed(Fd archive, Compression compression, const SourceOptions& options) {
  TRY_ASSIGN(UniqueFd plain, make_unnamed_file(options.temporary));
  PositionedStream bytes(archive);
  DecompressedStream stream(bytes, compression);
  std::array<char, kBlock> block;
  std::uint64_t size = 0;
  for (;;) {
    TRY_ASSIGN(const std::size_t got, stream.read(block.data(), block.size()));
    if (got == 0) return plain;
    size += got;
    if (size > options.limits.archive_bytes)
      return std::unexpected(too_large(options.limits.archive_bytes));
    TRY(within(linux::write_all(plain, std::string_view(block.data(), got)),
               fmt::format("uncompress into {}", options.temporary.string())));
  }
}

/// The content of one file of an archive.
class EntryStream : public ByteStream {
 public:
  static Result<std::unique_ptr<ByteStream>> open(Fd archive, const std::string& path,
                                                  std::uint64_t position) {
    std::unique_ptr<EntryStream> stream(new EntryStream(archive));
    const bool is_there = stream->bytes_.skip(position) == position;
    if (is_there) {
      TRY_ASSIGN(const auto entry, stream->reader_.next());
      if (entry && entry->type == TarEntry::Type::kFile && plain_path(entry->name) == path)
        return std::unique_ptr<ByteStream>(std::move(stream));
    }
    return refuse("the archive was changed while it was read");
  }

  Result<std::size_t> read(char* to, std::size_t size) override {
    while (rest_.empty()) {
      TRY_ASSIGN(const auto piece, reader_.read_piece());
      if (!piece) return std::size_t{0};
      if (piece->offset != offset_) return refuse("a sparse file in an archive of an image");
      rest_ = piece->data;
      offset_ += rest_.size();
    }
    const std::size_t count = rest_.copy(to, size);
    rest_.remove_prefix(count);
    return count;
  }
  Fd descriptor() const override { return bytes_.descriptor(); }

 private:
  explicit EntryStream(Fd archive) : bytes_(archive), reader_(bytes_) {}

  PositionedStream bytes_;
  TarReader reader_;
  std::string_view rest_;
  std::uint64_t offset_ = 0;
};

class ArchiveFiles : public SourceFiles {
 public:
  ArchiveFiles(UniqueFd archive, TarIndex index)
      : archive_(std::move(archive)), index_(std::move(index)) {}

  Result<std::unique_ptr<ByteStream>> open(const std::string& name) const override {
    TRY_ASSIGN(const TarIndex::File file, index_.find(name));
    return EntryStream::open(archive_, file.path, file.position);
  }

 private:
  UniqueFd archive_;  // uncompressed
  TarIndex index_;
};

}  // namespace

Result<std::unique_ptr<SourceFiles>> open_archive_files(UniqueFd file,
                                                        const SourceOptions& options) {
  PositionedStream beginning(file);
  PeekedStream peeked(beginning);
  TRY_ASSIGN(const std::string_view first, peeked.peek(4));
  if (const Compression compression = compression_of(first); compression != Compression::kNone) {
    TRY_ASSIGN(file, uncompressed(file, compression, options));
  }
  TRY_ASSIGN(const struct stat info, linux::sys::fstat(file));
  if (static_cast<std::uint64_t>(info.st_size) > options.limits.archive_bytes)
    return std::unexpected(too_large(options.limits.archive_bytes));
  PositionedStream bytes(file);
  TRY_ASSIGN(TarIndex index, TarIndex::read(bytes, options.limits.archive_entries));
  return std::unique_ptr<SourceFiles>(
      std::make_unique<ArchiveFiles>(std::move(file), std::move(index)));
}

}  // namespace ocirun::pods
