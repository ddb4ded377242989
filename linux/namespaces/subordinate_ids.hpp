#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/namespaces/id_map.hpp"

namespace ocirun::linux {

/// The `count` ids from `first` on, which a line of /etc/subuid or /etc/subgid gives to a user.
struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const IdRange&, const IdRange&) = default;
};

/// A user for whom subuid(5) is searched, where a line names the user by name or by uid.
struct Account {
  std::string name;  // "" for a user whom /etc/passwd does not list
  std::uint32_t uid = 0;
};

enum class IdKind { kUser, kGroup };

/// The calling user, as /etc/passwd lists it. NSS is not asked, because the program is linked
/// statically.
Account own_account();
/// The name of `uid` in `passwd`, a text in the format of passwd(5); "" if it is not there.
std::string find_user_name(std::string_view passwd, std::uint32_t uid);

/// The ranges that `text`, in the format of subuid(5) ("name:first:count"), gives to `account`, in
/// the order of the text. Malformed lines, counts of 0 and ranges beyond the last id are skipped,
/// as newuidmap(1) does.
std::vector<IdRange> parse_subordinate_ids(std::string_view text, const Account& account);
/// The calling user's ranges in /etc/subuid or /etc/subgid; none when the file cannot be read.
std::vector<IdRange> own_subordinate_ids(IdKind kind);

/// The path of newuidmap(1) or newgidmap(1). Searched for in the system's directories only, never
/// in the caller's PATH. "" if it is not installed.
std::string find_map_program(IdKind kind);
std::string_view map_program_name(IdKind kind);

/// Why newuidmap or newgidmap refused `mappings` (its exit status was not 0): a sentence that says
/// what to change. `own_id` is the caller's id.
std::string why_not_mapped(IdKind kind, const std::vector<IdMapping>& mappings,
                           std::uint32_t own_id);

/// The widest map that a user may have: root is `own_id`, and the ids from 1 on are those of
/// `ranges`, one range after the other. A range that has an id which is mapped already is left out,
/// because the kernel refuses it.
std::vector<IdMapping> widest_map(std::uint32_t own_id, const std::vector<IdRange>& ranges);
/// The widest map of the caller, which `spec --rootless` writes. It maps `own_id` alone where
/// newuidmap(1) or newgidmap(1) cannot map other ids.
std::vector<IdMapping> widest_own_map(IdKind kind, std::uint32_t own_id);

}  // namespace ocirun::linux
