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

/// The text of a file of the image; "" if the image does not have it.
Result<std::string> read_file_of(const linux::SafeDir& root, const char* path) {
  const auto opened = root.open(RootfsPath(path), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!opened && opened.error().number() == ENOENT) return std::string();
  if (!opened) return within(Result<std::string>(std::unexpected(opened.error())), path);
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(*opened));
  if (!S_ISREG(status.st_mode)) return refuse("{} of the image is no regular file", path);
  return within(linux::sys::read_all(*opened, kMostBytesOfAccounts), path);
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
                             const std::string& group) {
  OCIRUN_TRY_ASSIGN(const std::string passwd, read_file_of(root, "/etc/passwd"));
  OCIRUN_TRY_ASSIGN(const std::string group_file, read_file_of(root, "/etc/group"));
  const std::vector<UserLine> users = read_users(passwd);
  const std::vector<GroupLine> groups = read_groups(group_file);

  Account account;
  const auto number = Uid::parse(user.empty() ? "0" : user);
  const auto line = std::ranges::find_if(users, [&](const UserLine& entry) {
    return number ? entry.uid == *number : entry.name == user;
  });
  if (!number && line == users.end())
    return refuse("the user \"{}\" is not in /etc/passwd of the image", user);
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
    return refuse("the group \"{}\" is not in /etc/group of the image", group);
  account.gid = found->gid;
  return account;
}

}  // namespace ocirun::pods
