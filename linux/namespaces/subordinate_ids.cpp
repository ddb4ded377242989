#include "linux/namespaces/subordinate_ids.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::linux {
namespace {

constexpr std::size_t kMaxFile = 4 * 1024 * 1024;

std::string_view file_of(IdKind kind) {
  return kind == IdKind::kUser ? "/etc/subuid" : "/etc/subgid";
}

std::string read_or_empty(std::string_view path) {
  return read_file(Fd{AT_FDCWD}, std::string(path), kMaxFile).value_or("");
}

/// The first three fields of "a:b:c…"; missing ones are empty.
std::array<std::string_view, 3> first_fields(std::string_view line) {
  std::array<std::string_view, 3> fields;
  for (std::string_view& field : fields) field = cut(line, ':');
  return fields;
}

/// Whether the line maps the user's own id alone, which is always allowed, or one of `ranges`
/// contains all host ids of the line.
bool is_granted(const IdMapping& line, const std::vector<IdRange>& ranges, std::uint32_t own_id) {
  if (line.size == 1 && line.host_id == own_id) return true;
  return std::ranges::any_of(ranges, [&](const IdRange& range) {
    return line.host_id >= range.first && line.host_id - range.first < range.count &&
           line.size <= range.count - (line.host_id - range.first);
  });
}

/// The options of `usermod` that lend the account 65,536 ids, above all ids that are lent already.
/// Lends user ids, group ids or both: the kinds of which the account has none.
std::string lending_options(const Account& account) {
  constexpr std::uint64_t kFirst = 100'000, kCount = 65'536;
  std::uint64_t first = kFirst;
  std::vector<std::string_view> options;
  for (const IdKind kind : {IdKind::kUser, IdKind::kGroup}) {
    const std::string text = read_or_empty(file_of(kind));
    if (parse_subordinate_ids(text, account).empty())
      options.push_back(kind == IdKind::kUser ? "--add-subuids" : "--add-subgids");
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto fields = first_fields(cut(rest, '\n'));
      const auto begin = number<std::uint64_t>(fields[1]), size = number<std::uint64_t>(fields[2]);
      if (begin && size && *begin < Uid::kUnchanged && *size < Uid::kUnchanged)
        first = std::max(first, *begin + *size);
    }
  }
  std::string text;
  for (const std::string_view option : options)
    text += fmt::format("{} {}-{} ", option, first, first + kCount - 1);
  return text;
}

/// Whether the program is set-uid root or has file capabilities. Without privileges the program
/// cannot map ids of other users.
bool has_privileges(const std::string& path) {
  const auto fd = sys::open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (!fd) return true;  // an unreadable program may have privileges
  const auto info = sys::fstat(*fd);
  if (info && info->st_uid == 0 && (info->st_mode & S_ISUID) != 0) return true;
  return ::fgetxattr(fd->get(), "security.capability", nullptr, 0) > 0;
}

std::string describe(const std::vector<IdRange>& ranges) {
  std::string text;
  for (const IdRange& range : ranges)
    text += fmt::format("{}{} to {}", text.empty() ? "" : ", ", range.first,
                        range.first + (range.count - 1));
  return text;
}

}  // namespace

std::string find_user_name(std::string_view passwd, std::uint32_t uid) {
  while (!passwd.empty()) {
    const auto [name, password, id] = first_fields(cut(passwd, '\n'));
    if (number<std::uint32_t>(id) == uid) return std::string(name);
  }
  return "";
}

Account own_account() {
  const std::uint32_t uid = ::geteuid();
  return {.name = find_user_name(read_or_empty("/etc/passwd"), uid), .uid = uid};
}

std::vector<IdRange> parse_subordinate_ids(std::string_view text, const Account& account) {
  std::vector<IdRange> ranges;
  while (!text.empty()) {
    const auto [owner, first, count] = first_fields(cut(text, '\n'));
    const bool is_ours = (!account.name.empty() && owner == account.name) ||
                         number<std::uint32_t>(owner) == account.uid;
    const auto begin = number<std::uint32_t>(first), size = number<std::uint32_t>(count);
    if (!is_ours || !begin || !size || *size == 0) continue;
    if (*size - 1 > Uid::kUnchanged - 1 - std::min(*begin, Uid::kUnchanged - 1)) continue;
    ranges.push_back({*begin, *size});
  }
  return ranges;
}

std::vector<IdRange> own_subordinate_ids(IdKind kind) {
  return parse_subordinate_ids(read_or_empty(file_of(kind)), own_account());
}

std::string_view map_program_name(IdKind kind) {
  return kind == IdKind::kUser ? "newuidmap" : "newgidmap";
}

std::string find_map_program(IdKind kind) {
  for (const char* directory : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
    std::string path = directory + std::string(map_program_name(kind));
    if (sys::open(path.c_str(), O_PATH)) return path;
  }
  return "";
}

std::string why_not_mapped(IdKind kind, const std::vector<IdMapping>& mappings,
                           std::uint32_t own_id) {
  const Account account = own_account();
  const std::string who =
      account.name.empty() ? fmt::format("{}", account.uid) : std::string(account.name);
  const std::string_view file = file_of(kind);
  const std::vector<IdRange> ranges = parse_subordinate_ids(read_or_empty(file), account);
  for (const IdMapping& line : mappings) {
    if (is_granted(line, ranges, own_id)) continue;
    const std::string wanted = line.size == 1 ? fmt::format("host id {} is", line.host_id)
                                              : fmt::format("host ids {} to {} are", line.host_id,
                                                            line.host_id + (line.size - 1));
    if (ranges.empty())
      return fmt::format(
          "{} not yours: {} lends user {} no ids; an administrator can: usermod {}{}", wanted, file,
          who, lending_options(account), who);
    return fmt::format("{} not all yours: {} lends user {} {}", wanted, file, who,
                       describe(ranges));
  }
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
    return fmt::format("no_new_privs is set for this process, which takes {} its privileges",
                       map_program_name(kind));
  if (const std::string path = find_map_program(kind); !has_privileges(path))
    return fmt::format("{} has neither the set-uid bit nor file capabilities: install it again",
                       path);
  return "";
}

std::vector<IdMapping> widest_map(std::uint32_t own_id, const std::vector<IdRange>& ranges) {
  constexpr std::size_t kMostBytes = 4095;  // of a uid_map
  std::vector<IdMapping> map{{0, own_id, 1}};
  std::uint32_t next = 1;
  std::size_t bytes = fmt::formatted_size("0 {} 1\n", own_id);
  for (const IdRange& lent : ranges) {
    const bool is_taken = std::ranges::any_of(map, [&](const IdMapping& line) {
      return line.host_id - lent.first < lent.count || lent.first - line.host_id < line.size;
    });
    const std::uint32_t count = std::min(lent.count, Uid::kUnchanged - next);
    if (is_taken || count == 0) continue;
    bytes += fmt::formatted_size("{} {} {}\n", next, lent.first, count);
    if (map.size() == kMaxIdMappings || bytes > kMostBytes) break;
    map.push_back({next, lent.first, count});
    next += count;
  }
  return map;
}

std::vector<IdMapping> widest_own_map(IdKind kind, std::uint32_t own_id) {
  std::vector<IdMapping> map{{0, own_id, 1}};
  if (own_id == 0) return map;
  const std::string program = find_map_program(kind);
  if (program.empty() || !has_privileges(program)) return map;
  return widest_map(own_id, own_subordinate_ids(kind));
}

}  // namespace ocirun::linux
