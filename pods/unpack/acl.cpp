#include "pods/unpack/acl.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>

#include <algorithm>
#include <cstdint>
#include <optional>

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

}  // namespace

Result<void> add_acls(archive_entry* entry,
                      std::vector<std::pair<std::string, std::string>>& xattrs) {
  const int types = archive_entry_acl_types(entry);
  if ((types & ARCHIVE_ENTRY_ACL_TYPE_NFS4) != 0)
    return refuse("an NFSv4 ACL cannot be kept, Linux has POSIX ACLs");
  // An access ACL of three entries says only what the mode says; libarchive counts it as none.
  if ((types & ARCHIVE_ENTRY_ACL_TYPE_ACCESS) != 0)
    TRY(add_acl(entry, ARCHIVE_ENTRY_ACL_TYPE_ACCESS, "system.posix_acl_access", xattrs));
  if ((types & ARCHIVE_ENTRY_ACL_TYPE_DEFAULT) != 0)
    TRY(add_acl(entry, ARCHIVE_ENTRY_ACL_TYPE_DEFAULT, "system.posix_acl_default", xattrs));
  return {};
}

}  // namespace ocirun::pods
