#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::pods {

/// The user and groups of a container's program.
struct Account {
  Uid uid;
  Gid gid;
  std::vector<Gid> additional_gids;  // besides `gid`
  std::string home = "/";
};

/// Whether the user namespace of the container allows setgroups(2).
enum class SetGroups : std::uint8_t { kAllowed, kDenied };

/// The supplementary groups of an account, each once, its primary group first. The primary group is
/// among them, because a program that changes its gid would otherwise escape what a file's
/// permissions deny to that group (CVE-2022-36109). With kDenied, an account without additional
/// groups gets no supplementary group at all.
std::vector<Gid> supplementary_groups(const Account& account, SetGroups rule);

/// Finds an account in /etc/passwd and /etc/group below `root`, of an image or a container. `user`
/// and `group` are numbers or names; the user "" is root. A number need not be in the files.
/// Without a group, the files give the group and the additional groups of the user; a user number
/// that is not in the files gets group 0. `whose`: what has the files, for errors. Errors: a name
/// that is not in the files; a file above 1 MiB; one that is no regular file, or lies in a
/// filesystem of the kernel.
Result<Account> find_account(const linux::SafeDir& root, const std::string& user,
                             const std::string& group, std::string_view whose = "image");

}  // namespace ocirun::pods
