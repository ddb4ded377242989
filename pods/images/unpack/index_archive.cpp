
#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <optional>
#include <string_view>

#include "linux/base/file_io.hpp"
#include "pods/images/unpack/libarchive.hpp"
#include "pods/images/unpack/tar_reader.hpp"

namespace ocirun::pods {
namespace {

using Kind = ArchiveMember::Kind;

constexpr std::uint64_t kRecord = 512;  // bytes, the unit of a tar archive

Kind kind_of(archive_entry* header) {
  switch (type_of(header)) {
    case TarEntry::Type::kHardLink:
      return Kind::kHardLink;
    case TarEntry::Type::kSymlink:
      return Kind::kSymlink;
    case TarEntry::Type::kFile:
      return archive_entry_sparse_count(header) == 0 ? Kind::kFile : Kind::kSparse;
    default:
      return Kind::kOther;
  }
}

ArchiveMember member_of(archive_entry* header) {
  const Kind kind = kind_of(header);
  return {.kind = kind,
          .name = text_of(archive_entry_pathname(header)),
          .target = text_of(kind == Kind::kHardLink ? archive_entry_hardlink(header)
                                                    : archive_entry_symlink(header)),
          .offset = 0,
          .size = static_cast<std::uint64_t>(archive_entry_size(header))};
}

/// The bytes that a content takes in an archive: zeros fill up its last record.
std::uint64_t stored_size(std::uint64_t size) { return (size + kRecord - 1) / kRecord * kRecord; }

/// Whether the archive has the whole content of a file, between the headers of the file and `next`,
/// the next entry. If not, the file has holes, or its headers contradict each other.
bool holds_all(const ArchiveMember& file, std::uint64_t next) {
  return file.size <= next && file.offset + stored_size(file.size) == next;
}

}  // namespace

Result<void> uncompress(ByteStream& archive, Compression compression, Fd plain,
                        std::uint64_t most) {
  DecompressedStream stream(archive, compression);
  std::array<char, kBlockSize> block;
  std::uint64_t size = 0;
  for (;;) {
    OCIRUN_TRY_ASSIGN(const std::size_t got, stream.read(block.data(), block.size()));
    if (got == 0) return {};
    size += got;
    if (size > most) return refuse("the archive has more than {} bytes", most);
    OCIRUN_TRY(linux::write_all(plain, std::string_view(block.data(), got)));
  }
}

Result<void> index_archive(ByteStream& archive, std::uint64_t most_entries,
                           const std::function<Result<void>(const ArchiveMember&)>& on_member) {
  ArchiveHandle handle(archive);
  archive_read_support_format_tar(handle.get());
  archive_read_support_format_empty(handle.get());
  OCIRUN_TRY(within(handle.open(), "read the tar archive"));
  std::optional<ArchiveMember> last;  // its content's end is not known before the next header
  for (std::uint64_t count = 0;; ++count) {
    archive_entry* header = nullptr;
    const int status = archive_read_next_header(handle.get(), &header);
    // Warnings concern parts of headers that do not matter for the place of the content.
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN && status != ARCHIVE_EOF)
      return within(Result<void>(std::unexpected(handle.error())), "read the tar archive");
    const auto position = static_cast<std::uint64_t>(archive_read_header_position(handle.get()));
    if (last && last->kind == Kind::kFile && !holds_all(*last, position))
      last->kind = Kind::kSparse;
    if (last) OCIRUN_TRY(on_member(*last));
    if (status == ARCHIVE_EOF) return {};
    if (count == most_entries) return refuse("the archive has more than {} entries", most_entries);
    last.reset();
    ArchiveMember member = member_of(header);
    // libarchive has read just the headers of the entry.
    if (member.kind == Kind::kFile)
      member.offset = static_cast<std::uint64_t>(archive_filter_bytes(handle.get(), 0));
    if (type_of(header) != TarEntry::Type::kDirectory) last = std::move(member);
  }
}

}  // namespace ocirun::pods
