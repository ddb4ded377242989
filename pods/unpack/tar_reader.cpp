#include "pods/unpack/tar_reader.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <map>

#include "pods/images/escaped.hpp"
#include "pods/unpack/acl.hpp"
#include "pods/unpack/libarchive.hpp"

namespace ocirun::pods {
namespace {

using Type = TarEntry::Type;

/// A name in a pax header that is no UTF-8, or cannot be converted to the C locale's characters:
/// libarchive warns, and keeps the bytes, which is what is wanted here. Other warnings mean that
/// something was left out; of some, such as an ACL that it cannot parse, libarchive leaves only the
/// text.
bool is_harmless(const char* warning) {
  return warning != nullptr &&
         std::string_view(warning).find("can't be converted from UTF-8 to current locale") !=
             std::string_view::npos;
}

/// GNU tar and libarchive write each attribute twice, under two keys; the last one counts.
void add_xattrs(archive_entry* entry, TarEntry& out) {
  std::map<std::string, std::string> found;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  archive_entry_xattr_reset(entry);
  while (archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK)
    found.insert_or_assign(text_of(name), std::string(static_cast<const char*>(value), size));
  for (auto& [attribute, text] : found) out.xattrs.emplace_back(attribute, std::move(text));
}

}  // namespace

struct TarReader::State {
  explicit State(ByteStream& source) : handle(source) {}
  ArchiveHandle handle;
  bool is_open = false;
  std::uint64_t size = 0, received = 0;  // of the entry's content
  bool is_over = false;                  // the archive has ended after the entry's content
};

TarReader::TarReader(ByteStream& source) : state_(std::make_unique<State>(source)) {}
TarReader::TarReader(TarReader&&) noexcept = default;
TarReader::~TarReader() = default;

Result<std::optional<TarEntry>> TarReader::next() {
  ::archive* const archive = state_->handle.get();
  if (state_->is_over) return std::optional<TarEntry>();
  if (!state_->is_open) {
    archive_read_support_format_tar(archive);
    archive_read_support_format_empty(archive);
    TRY(within(state_->handle.open(), "read the tar archive"));
    state_->is_open = true;
  }
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(archive, &entry);
  if (status == ARCHIVE_EOF) return std::optional<TarEntry>();
  const char* const warning = archive_error_string(archive);
  const bool is_whole = status == ARCHIVE_OK && warning == nullptr;
  const bool is_usable = status == ARCHIVE_OK || status == ARCHIVE_WARN;
  if (!is_whole && (!is_usable || !is_harmless(warning)))
    return within(Result<std::optional<TarEntry>>(std::unexpected(state_->handle.error())),
                  "read the tar archive");
  TarEntry out;
  out.type = type_of(entry);
  out.name = text_of(archive_entry_pathname(entry));
  out.target = text_of(out.type == Type::kHardLink ? archive_entry_hardlink(entry)
                                                   : archive_entry_symlink(entry));
  const auto size = archive_entry_size(entry);
  if (size < 0) return refuse("entry {}: its size is negative", escaped(out.name));
  out.size = state_->size = static_cast<std::uint64_t>(size);
  state_->received = 0;
  out.mode = archive_entry_perm(entry);
  out.uid = archive_entry_uid(entry);
  out.gid = archive_entry_gid(entry);
  out.modified = {archive_entry_mtime(entry), archive_entry_mtime_nsec(entry)};
  out.accessed = archive_entry_atime_is_set(entry) != 0
                     ? timespec{archive_entry_atime(entry), archive_entry_atime_nsec(entry)}
                     : out.modified;
  out.device_major = static_cast<std::uint64_t>(archive_entry_rdevmajor(entry));
  out.device_minor = static_cast<std::uint64_t>(archive_entry_rdevminor(entry));
  add_xattrs(entry, out);
  TRY(within(add_acls(entry, out.xattrs), fmt::format("entry {}", escaped(out.name))));
  return std::optional(std::move(out));
}

Result<std::optional<TarReader::Piece>> TarReader::read_piece() {
  const void* data = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  const int status = archive_read_data_block(state_->handle.get(), &data, &size, &offset);
  if (status == ARCHIVE_EOF) return std::optional<Piece>();
  if (status != ARCHIVE_OK) {
    state_->is_over = state_->received == state_->size && state_->handle.has_ended();
    if (state_->is_over) return std::optional<Piece>();
    return std::unexpected(state_->handle.error());
  }
  state_->received = static_cast<std::uint64_t>(offset) + size;
  return std::optional(Piece{static_cast<std::uint64_t>(offset),
                             std::string_view(static_cast<const char*>(data), size)});
}

}  // namespace ocirun::pods
