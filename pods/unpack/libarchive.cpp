#include "pods/unpack/libarchive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include "pods/images/escaped.hpp"

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
  return Error(0, text == nullptr ? "damaged" : escaped(text));
}

TarEntry::Type type_of(::archive_entry* entry) {
  using Type = TarEntry::Type;
  if (archive_entry_hardlink(entry) != nullptr) return Type::kHardLink;
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return Type::kFile;
    case AE_IFDIR:
      return Type::kDirectory;
    case AE_IFLNK:
      return Type::kSymlink;
    case AE_IFCHR:
      return Type::kCharacterDevice;
    case AE_IFBLK:
      return Type::kBlockDevice;
    case AE_IFIFO:
      return Type::kFifo;
    default:
      return Type::kOther;
  }
}

void expect_utf8_names() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (locale != nullptr) ::uselocale(locale);
}

}  // namespace ocirun::pods
