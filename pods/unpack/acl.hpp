#pragma once

#include <string>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"

struct archive_entry;

namespace ocirun::pods {

/// Adds the POSIX ACLs of an archive's entry to `xattrs`, in the kernel's format, as
/// "system.posix_acl_access" and "system.posix_acl_default". Errors: an ACL of another system
/// (NFSv4); a user or group that the archive names without its number.
Result<void> add_acls(archive_entry* entry,
                      std::vector<std::pair<std::string, std::string>>& xattrs);

}  // namespace ocirun::pods
