#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cstring>

#include "pods/unpack/libarchive.hpp"
#include "pods/unpack/tar_reader.hpp"

namespace ocirun::pods {
namespace {

constexpr int kFilters = 2;  // the decompressor, and libarchive's name for "no more"

}  // namespace

// libarchive's format "raw" gives the output of the filter as the content of a single entry.
struct DecompressedStream::State {
  State(ByteStream& source, Compression kind) : peeked(source), handle(peeked), compression(kind) {}

  Result<void> begin() {
    begun = true;
    TRY_ASSIGN(const std::string_view first, peeked.peek(4));
    const Compression found = compression_of(first);
    if (found != compression)
      return refuse("its content is {}, its media type says {}", compression_name(found),
                    compression_name(compression));
    if (compression == Compression::kNone) return {};
    archive_read_support_format_raw(handle.get());
    archive_read_support_format_empty(handle.get());
    if (compression == Compression::kGzip)
      archive_read_support_filter_gzip(handle.get());
    else
      archive_read_support_filter_zstd(handle.get());
    TRY(handle.open());
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(handle.get(), &entry);
    if (status == ARCHIVE_EOF) {
      ended = true;
      return {};
    }
    if (status != ARCHIVE_OK) return std::unexpected(handle.error());
    // libarchive would go on as long as it finds compressed data in compressed data.
    if (archive_filter_count(handle.get()) != kFilters)
      return refuse("it is not {}, or was compressed twice", compression_name(compression));
    return {};
  }

  PeekedStream peeked;
  ArchiveHandle handle;
  Compression compression;
  bool begun = false, ended = false;
};

DecompressedStream::DecompressedStream(ByteStream& source, Compression compression)
    : state_(std::make_unique<State>(source, compression)) {}
DecompressedStream::~DecompressedStream() = default;

Result<std::size_t> DecompressedStream::read(char* to, std::size_t size) {
  if (!state_->begun) TRY(state_->begin());
  if (state_->compression == Compression::kNone) return state_->peeked.read(to, size);
  if (state_->ended) return std::size_t{0};
  const la_ssize_t got = archive_read_data(state_->handle.get(), to, size);
  if (got < 0)
    return within(Result<std::size_t>(std::unexpected(state_->handle.error())),
                  fmt::format("decompress {}", compression_name(state_->compression)));
  return static_cast<std::size_t>(got);
}

Result<std::string_view> PeekedStream::peek(std::size_t size) {
  first_.resize(size);
  std::size_t filled = 0;
  while (filled < size) {
    TRY_ASSIGN(const std::size_t got, source_.read(first_.data() + filled, size - filled));
    if (got == 0) break;
    filled += got;
  }
  first_.resize(filled);
  return std::string_view(first_);
}

Result<std::size_t> PeekedStream::read(char* to, std::size_t size) {
  if (given_ == first_.size()) return source_.read(to, size);
  const std::size_t count = std::min(size, first_.size() - given_);
  std::memcpy(to, first_.data() + given_, count);
  given_ += count;
  return count;
}

}  // namespace ocirun::pods
