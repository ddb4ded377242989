#include "pods/prepare/plan/accounts.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/kernel_filesystems.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::pods {
namespace {

constexpr std::size_t kMostBytesOfAccounts = 1024 * 1024;

struct UserLine {
  std::string_view name, home;
  Uid uid;
  Gid gid;
};

struct GroupLine {
  std::string_view name, members;
  Gid gid;
};

/// The text of a file of the image or container `whose`; "" if there is no such file. Opens nothing
/// but a regular file: the file, or a symlink on the way, is a stranger's.
Result<std::string> read_file_of(const linux::SafeDir& root, const char* path,
                                 std::string_view whose) {
  const auto found = root.open(RootfsPath(path), O_PATH);
  if (!found && found.error().number() == ENOENT) return std::string();
  if (!found) return within(Result<std::string>(std::unexpected(found.error())), path);
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(*found));
  if (!S_ISREG(status.st_mode)) return refuse("{} of the {} is no regular file", path, whose);
  OCIRUN_TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(*found));
  if (linux::is_kernel_filesystem(filesystem.magic))
    return refuse("{} of the {} lies in a filesystem of the kernel, such as proc or sysfs", path,
                  whose);
  OCIRUN_TRY_ASSIGN(const auto procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  // O_NONBLOCK: a program of the container may have a lease on the file.
  OCIRUN_TRY_ASSIGN(const UniqueFd opened,
                    within(procfs.reopen(*found, O_RDONLY | O_NOCTTY | O_NONBLOCK), path));
  return within(linux::sys::read_all(opened, kMostBytesOfAccounts), "{} of the {}", path, whose);
}

template <std::size_t N>
std::array<std::string_view, N> fields_of(std::string_view line) {
  std::array<std::string_view, N> fields;
  for (std::string_view& field : fields) field = linux::cut(line, ':');
  return fields;
}

/// The complete lines of passwd(5). Skips others, as all programs do.
std::vector<UserLine> read_users(std::string_view text) {
  std::vector<UserLine> users;
  for (const std::string_view line : linux::words(text, '\n')) {
    const auto fields = fields_of<6>(line);
    const auto uid = Uid::parse(fields[2]);
    const auto gid = Gid::parse(fields[3]);
    if (uid && gid) users.push_back({fields[0], fields[5], *uid, *gid});
  }
  return users;
}

std::vector<GroupLine> read_groups(std::string_view text) {
  std::vector<GroupLine> groups;
  for (const std::string_view line : linux::words(text, '\n')) {
    const auto fields = fields_of<4>(line);
    if (const auto gid = Gid::parse(fields[2])) groups.push_back({fields[0], fields[3], *gid});
  }
  return groups;
}

bool has_member(const GroupLine& group, std::string_view user) {
  const auto members = linux::split(group.members, ',');
  return std::ranges::find(members, user) != members.end();
}

}  // namespace

std::vector<Gid> supplementary_groups(const Account& account, SetGroups rule) {
  if (rule == SetGroups::kDenied && account.additional_gids.empty()) return {};
  std::vector<Gid> groups{account.gid};
  std::set<std::uint32_t> known{account.gid.value()};
  for (const Gid gid : account.additional_gids)
    if (known.insert(gid.value()).second) groups.push_back(gid);
  return groups;
}

Result<Account> find_account(const linux::SafeDir& root, const std::string& user,
                             const std::string& group, std::string_view whose) {
  OCIRUN_TRY_ASSIGN(const std::string passwd, read_file_of(root, "/etc/passwd", whose));
  OCIRUN_TRY_ASSIGN(const std::string group_file, read_file_of(root, "/etc/group", whose));
  const std::vector<UserLine> users = read_users(passwd);
  const std::vector<GroupLine> groups = read_groups(group_file);

  Account account;
  const auto number = Uid::parse(user.empty() ? "0" : user);
  const auto line = std::ranges::find_if(users, [&](const UserLine& entry) {
    return number ? entry.uid == *number : entry.name == user;
  });
  if (!number && line == users.end())
    return refuse("the user \"{}\" is not in /etc/passwd of the {}", user, whose);
  account.uid = number ? *number : line->uid;
  if (line != users.end()) {
    account.gid = line->gid;
    if (line->home.starts_with('/')) account.home = line->home;
  }
  if (group.empty()) {
    if (line != users.end())
      for (const GroupLine& entry : groups)
        if (entry.gid != account.gid && has_member(entry, line->name))
          account.additional_gids.push_back(entry.gid);
    return account;
  }
  if (const auto gid = Gid::parse(group)) {
    account.gid = *gid;
    return account;
  }
  const auto found = std::ranges::find(groups, group, &GroupLine::name);
  if (found == groups.end())
    return refuse("the group \"{}\" is not in /etc/group of the {}", group, whose);
  account.gid = found->gid;
  return account;
}

}  // namespace ocirun::pods
