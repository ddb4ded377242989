#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/namespaces/id_map.hpp"

namespace ocirun::linux {

/// `count` ids from `first` on, lent to a user by a line of /etc/subuid or /etc/subgid.
struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const IdRange&, const IdRange&) = default;
};

/// Whose ids these are: subuid(5) knows a user by either.
struct Account {
  std::string name;  // "" for a user whom /etc/passwd does not list
  std::uint32_t uid = 0;
};

enum class IdKind { kUser, kGroup };

/// The caller as /etc/passwd has it. NSS is not asked: the program is static.
Account own_account();
/// The name of `uid` in a text of the form of passwd(5); "" if it is not there.
std::string find_user_name(std::string_view passwd, std::uint32_t uid);

/// The ranges that `text`, in the form of subuid(5) ("name:first:count"), gives to `account`, in
/// its order. Lines that are not understood, counts of 0 and ranges beyond the last id are passed
/// over, as newuidmap(1) does.
std::vector<IdRange> parse_subordinate_ids(std::string_view text, const Account& account);
/// The same from /etc/subuid or /etc/subgid; nothing when the file cannot be read.
std::vector<IdRange> own_subordinate_ids(IdKind kind);

/// Where newuidmap(1) or newgidmap(1) is: in the system's directories, never the caller's PATH. ""
/// if it is not installed.
std::string find_map_program(IdKind kind);
std::string_view map_program_name(IdKind kind);

/// Why the map program refuses `mappings` (its exit status was not 0): a sentence with what to
/// change. `own_id` is the caller's.
std::string why_not_mapped(IdKind kind, const std::vector<IdMapping>& mappings,
                           std::uint32_t own_id);

/// The whole map that `spec --rootless` writes: root is `own_id`, and the ids from 1 on are the
/// first range that is lent to the caller, if there is one and it can be used.
std::vector<IdMapping> widest_own_map(IdKind kind, std::uint32_t own_id);

}  // namespace ocirun::linux
