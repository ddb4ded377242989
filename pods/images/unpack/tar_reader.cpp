#include "pods/images/unpack/tar_reader.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "bundle/json/writer.hpp"
#include "pods/images/unpack/libarchive.hpp"

namespace ocirun::pods {
namespace {

constexpr std::uint32_t kNoId = UINT32_MAX;  // ACL_UNDEFINED_ID

struct AclEntry {
  std::uint16_t tag = 0;  // ACL_USER_OBJ, …
  std::uint16_t permissions = 0;
  std::uint32_t id = kNoId;
};

std::optional<std::uint16_t> tag_of(int tag) {
  switch (tag) {
    case ARCHIVE_ENTRY_ACL_USER_OBJ:
      return ACL_USER_OBJ;
    case ARCHIVE_ENTRY_ACL_USER:
      return ACL_USER;
    case ARCHIVE_ENTRY_ACL_GROUP_OBJ:
      return ACL_GROUP_OBJ;
    case ARCHIVE_ENTRY_ACL_GROUP:
      return ACL_GROUP;
    case ARCHIVE_ENTRY_ACL_MASK:
      return ACL_MASK;
    case ARCHIVE_ENTRY_ACL_OTHER:
      return ACL_OTHER;
    default:
      return std::nullopt;
  }
}

template <typename T>
void append_little_endian(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out += static_cast<char>(static_cast<unsigned>(value >> (8 * i)) & 0xffU);
}

/// struct posix_acl_xattr_header and its entries, which the kernel wants in order of tag and id.
std::string kernel_format(std::vector<AclEntry> entries) {
  std::ranges::sort(entries, [](const AclEntry& a, const AclEntry& b) {
    return std::pair(a.tag, a.id) < std::pair(b.tag, b.id);
  });
  std::string out;
  append_little_endian(out, std::uint32_t{POSIX_ACL_XATTR_VERSION});
  for (const AclEntry& entry : entries) {
    append_little_endian(out, entry.tag);
    append_little_endian(out, entry.permissions);
    append_little_endian(out, entry.id);
  }
  return out;
}

Result<void> add_acl(archive_entry* entry, int type, const char* xattr,
                     std::vector<std::pair<std::string, std::string>>& xattrs) {
  if (archive_entry_acl_reset(entry, type) == 0) return {};
  std::vector<AclEntry> entries;
  int found_type = 0, permissions = 0, tag = 0, id = -1;
  const char* name = nullptr;
  while (archive_entry_acl_next(entry, type, &found_type, &permissions, &tag, &id, &name) ==
         ARCHIVE_OK) {
    const auto kernel_tag = tag_of(tag);
    if (!kernel_tag) return refuse("its ACL has an entry of an unknown kind");
    const bool wants_id = *kernel_tag == ACL_USER || *kernel_tag == ACL_GROUP;
    if (wants_id && id < 0) return refuse("its ACL names a user or group without the number");
    entries.push_back({*kernel_tag, static_cast<std::uint16_t>(permissions & 7),
                       wants_id ? static_cast<std::uint32_t>(id) : kNoId});
  }
  if (!entries.empty()) xattrs.emplace_back(xattr, kernel_format(std::move(entries)));
  return {};
}

/// Adds the POSIX ACLs of an archive's entry to `xattrs`, in the kernel's format, as
/// "system.posix_acl_access" and "system.posix_acl_default". Errors: an ACL of another system
/// (NFSv4); a user or group that the archive names without its number.
Result<void> add_acls(archive_entry* entry,
                      std::vector<std::pair<std::string, std::string>>& xattrs) {
  const int types = archive_entry_acl_types(entry);
  if ((types & ARCHIVE_ENTRY_ACL_TYPE_NFS4) != 0)
    return refuse("an NFSv4 ACL cannot be kept, Linux has POSIX ACLs");
  // An access ACL of three entries says only what the mode says; libarchive counts it as none.
  if ((types & ARCHIVE_ENTRY_ACL_TYPE_ACCESS) != 0)
    OCIRUN_TRY(add_acl(entry, ARCHIVE_ENTRY_ACL_TYPE_ACCESS, "system.posix_acl_access", xattrs));
  if ((types & ARCHIVE_ENTRY_ACL_TYPE_DEFAULT) != 0)
    OCIRUN_TRY(add_acl(entry, ARCHIVE_ENTRY_ACL_TYPE_DEFAULT, "system.posix_acl_default", xattrs));
  return {};
}

using Type = TarEntry::Type;

/// Whether a warning of libarchive is about a name in a pax header that is no UTF-8, or cannot be
/// converted to the characters of the C locale. libarchive keeps the bytes of such a name, which is
/// right here. Other warnings mean that something was left out, such as an ACL that libarchive
/// cannot parse.
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
    OCIRUN_TRY(within(state_->handle.open(), "read the tar archive"));
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
  if (size < 0) return refuse("entry {}: its size is negative", bundle::escaped(out.name));
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
  OCIRUN_TRY(within(add_acls(entry, out.xattrs), "entry {}", bundle::escaped(out.name)));
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
