#include "runtime/checkpoint/cgroup_mode.hpp"

#include <fcntl.h>

#include <string>

#include "linux/base/name_table.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::runtime {
namespace {

constexpr linux::Named<CgroupMode> kModes[] = {{"soft", CgroupMode::kSoft},
                                               {"full", CgroupMode::kFull},
                                               {"strict", CgroupMode::kStrict},
                                               {"ignore", CgroupMode::kIgnore}};

}  // namespace

std::optional<CgroupMode> parse_cgroup_mode(std::string_view text) {
  return linux::value_of(kModes, text);
}

std::string_view crius_mode(CgroupMode mode) {
  return linux::name_of(kModes, mode == CgroupMode::kStrict ? CgroupMode::kFull : mode);
}

Result<void> check_absence(const cgroups::Record& planned, CgroupMode mode) {
  if (mode != CgroupMode::kStrict) return {};
  for (const auto& [controllers, directory] : planned.directories)
    if (linux::sys::open(directory.c_str(), O_PATH))
      return refuse(
          "--manage-cgroups-mode strict: the cgroup {} exists: remove it, or give soft or full",
          directory);
  return {};
}

}  // namespace ocirun::runtime
