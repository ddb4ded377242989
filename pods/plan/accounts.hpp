#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::pods {

/// Who the program of a container runs as.
struct Account {
  Uid uid;
  Gid gid;
  std::vector<Gid> additional_gids;  // besides `gid`
  std::string home = "/";
};

/// Whether setgroups(2) may be called where the container is made.
enum class SetGroups : std::uint8_t { kAllowed, kDenied };

/// The supplementary groups of an account, each once, its primary group first. Without that one a
/// program that changes its gid would lose the group, and with it what a file's permissions deny to
/// the group (CVE-2022-36109). Where setgroups(2) is denied, an account without additional groups
/// gets none, because the kernel refuses the primary one too.
std::vector<Gid> supplementary_groups(const Account& account, SetGroups rule);

/// Finds an account in the image's own /etc/passwd and /etc/group, below `root`. `user` and `group`
/// are numbers or names; "" as user is root. Numbers are taken as they are, whether a file has them
/// or not. Without a group, the group and the additional groups of the user are those of the files;
/// a number that the files lack gets group 0. Errors: a name that the files lack; a file above 1
/// MiB.
Result<Account> find_account(const linux::SafeDir& root, const std::string& user,
                             const std::string& group);

}  // namespace ocirun::pods
