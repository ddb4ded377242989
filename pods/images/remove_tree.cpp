#include "pods/images/remove_tree.hpp"

#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "linux/base/directory_entries.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::size_t kBatch = 4096;  // names that are held in memory

Result<bool> is_directory(Fd directory, const char* name) {
  TRY_ASSIGN(const struct stat info, sys::fstatat(directory, name));
  return S_ISDIR(info.st_mode);
}

/// A mode such as 0 would keep the owner out, who may be no root.
Result<UniqueFd> open_directory(Fd parent, const std::string& name) {
  TRY(sys::fchmodat(parent, name.c_str(), 0700));
  return sys::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/// The first entries of a directory.
Result<std::vector<std::string>> some_names(Fd directory) {
  std::vector<std::string> names;
  TRY(linux::for_each_entry(directory, [&](const char* name, unsigned char) -> Result<void> {
    if (names.size() < kBatch) names.emplace_back(name);
    return {};
  }));
  return names;
}

/// Moves a directory of a lower level into `top` under a name that is free there.
Result<void> lift(Fd from, const std::string& name, Fd top, std::uint64_t& number) {
  for (;;) {
    const std::string free_name = fmt::format(".{}", number++);
    const auto moved = sys::renameat2(from, name.c_str(), top, free_name.c_str(), RENAME_NOREPLACE);
    if (moved || moved.error().number() != EEXIST) return moved;
  }
}

/// Empties `name` of `top`: its directories move up to `top`, where they get their turn. So the
/// depth never matters.
Result<void> flatten(Fd top, const std::string& name, std::uint64_t& number) {
  TRY_ASSIGN(const UniqueFd directory, open_directory(top, name));
  for (;;) {
    TRY_ASSIGN(const std::vector<std::string> names, some_names(directory));
    if (names.empty()) return {};
    for (const std::string& entry : names) {
      TRY_ASSIGN(const bool is_dir, is_directory(directory, entry.c_str()));
      if (!is_dir) {
        TRY(sys::unlinkat(directory, entry.c_str(), 0));
        continue;
      }
      TRY(sys::fchmodat(directory, entry.c_str(), 0700));  // a move writes to the moved directory
      TRY(lift(directory, entry, top, number));
    }
  }
}

}  // namespace

Result<void> remove_content(Fd directory) {
  std::uint64_t number = 0;
  for (;;) {
    TRY_ASSIGN(const std::vector<std::string> names, some_names(directory));
    if (names.empty()) return {};
    for (const std::string& name : names) {
      TRY_ASSIGN(const bool is_dir, is_directory(directory, name.c_str()));
      if (is_dir) TRY(flatten(directory, name, number));
      TRY(sys::unlinkat(directory, name.c_str(), is_dir ? AT_REMOVEDIR : 0));
    }
  }
}

Result<void> remove_tree(Fd directory, const char* name) {
  const auto info = sys::fstatat(directory, name);
  if (!info && info.error().number() == ENOENT) return {};
  if (!info) return std::unexpected(info.error());
  if (!S_ISDIR(info->st_mode)) return sys::unlinkat(directory, name, 0);
  {
    TRY_ASSIGN(const UniqueFd opened, open_directory(directory, name));
    TRY(remove_content(opened));
  }
  return sys::unlinkat(directory, name, AT_REMOVEDIR);
}

}  // namespace ocirun::pods
