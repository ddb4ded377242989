#include "pods/images/unpack/libarchive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <algorithm>
#include <cstring>

#include "bundle/json/writer.hpp"

namespace ocirun::pods {

ArchiveHandle::ArchiveHandle(ByteStream& source) : source_(source), archive_(archive_read_new()) {}

ArchiveHandle::~ArchiveHandle() {
  if (archive_ != nullptr) archive_read_free(archive_);
}

ssize_t ArchiveHandle::read_block(::archive* of, void* handle, const void** block) {
  auto& self = *static_cast<ArchiveHandle*>(handle);
  auto got = self.source_.read(self.block_.data(), self.block_.size());
  if (!got) {
    self.failure_ = std::move(got).error();
    archive_set_error(of, self.failure_->number(), "read");
    return -1;
  }
  if (*got == 0) self.has_ended_ = true;
  *block = self.block_.data();
  return static_cast<ssize_t>(*got);
}

std::int64_t ArchiveHandle::skip_bytes(::archive*, void* handle, std::int64_t size) {
  if (size <= 0) return 0;
  auto& source = static_cast<ArchiveHandle*>(handle)->source_;
  return static_cast<std::int64_t>(source.skip(static_cast<std::uint64_t>(size)));
}

Result<void> ArchiveHandle::open() {
  if (archive_ == nullptr) return fail(ENOMEM, "read the archive");
  if (archive_read_open2(archive_, this, nullptr, read_block, skip_bytes, nullptr) != ARCHIVE_OK)
    return std::unexpected(error());
  return {};
}

Error ArchiveHandle::error() const {
  if (failure_) return *failure_;
  const char* const text = archive_error_string(archive_);
  return Error(0, text == nullptr ? "damaged" : bundle::escaped(text));
}

TarEntry::Type type_of(::archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return TarEntry::Type::kHardLink;
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return TarEntry::Type::kFile;
    case AE_IFDIR:
      return TarEntry::Type::kDirectory;
    case AE_IFLNK:
      return TarEntry::Type::kSymlink;
    case AE_IFCHR:
      return TarEntry::Type::kCharacterDevice;
    case AE_IFBLK:
      return TarEntry::Type::kBlockDevice;
    case AE_IFIFO:
      return TarEntry::Type::kFifo;
    default:
      return TarEntry::Type::kOther;
  }
}

void expect_utf8_names() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (locale != nullptr) ::uselocale(locale);
}

namespace {

constexpr int kFilters = 2;  // the decompressor, and libarchive's name for "no more"

}  // namespace

// libarchive's format "raw" gives the output of the filter as the content of a single entry.
struct DecompressedStream::State {
  State(ByteStream& source, Compression kind) : peeked(source), handle(peeked), compression(kind) {}

  Result<void> begin() {
    begun = true;
    OCIRUN_TRY_ASSIGN(const std::string_view first, peeked.peek(4));
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
    OCIRUN_TRY(handle.open());
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
  if (!state_->begun) OCIRUN_TRY(state_->begin());
  if (state_->compression == Compression::kNone) return state_->peeked.read(to, size);
  if (state_->ended) return std::size_t{0};
  const la_ssize_t got = archive_read_data(state_->handle.get(), to, size);
  if (got < 0)
    return within(Result<std::size_t>(std::unexpected(state_->handle.error())), "decompress {}",
                  compression_name(state_->compression));
  return static_cast<std::size_t>(got);
}

Result<std::string_view> PeekedStream::peek(std::size_t size) {
  first_.resize(size);
  std::size_t filled = 0;
  while (filled < size) {
    OCIRUN_TRY_ASSIGN(const std::size_t got, source_.read(first_.data() + filled, size - filled));
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
