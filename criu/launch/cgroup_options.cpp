#include "criu/launch/cgroup_options.hpp"

#include <fcntl.h>
#include <linux/magic.h>

#include <utility>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {
namespace {

// The mount point of the first cgroup2 filesystem, and the options of the filesystem.
std::pair<std::string, std::string> find_options() {
  const auto procfs = Procfs::open(Procfs::Subset::kProcesses);
  const auto table = procfs ? read_mountinfo(*procfs) : Result<std::string>();
  if (!table) return {};
  std::string_view rest = *table;
  while (const auto entry = next_mount(rest))
    if (entry->type == "cgroup2")
      return {unescape_path(entry->mount_point), std::string(entry->options)};
  return {};
}

Result<void> set_options(Fd mount, std::string_view options) {
  OCIRUN_TRY_ASSIGN(const UniqueFd filesystem, sys::fspick(mount));
  for (const std::string_view option : words(options, ',')) {
    if (option == "rw" || option == "ro") continue;
    OCIRUN_TRY(sys::fsconfig(filesystem, FSCONFIG_SET_FLAG, std::string(option).c_str(), nullptr));
  }
  return sys::fsconfig(filesystem, FSCONFIG_CMD_RECONFIGURE, nullptr, nullptr);
}

}  // namespace

CgroupOptions::CgroupOptions() {
  auto [point, options] = find_options();
  if (point.empty()) return;
  auto mount = sys::open(point.c_str(), O_PATH | O_DIRECTORY);
  if (!mount) return;
  const auto filesystem = sys::fstatfs(*mount);  // another mount may cover the point
  if (!filesystem || filesystem->magic != CGROUP2_SUPER_MAGIC) return;
  mount_ = *std::move(mount);
  options_ = std::move(options);
}

CgroupOptions::~CgroupOptions() {
  if (!mount_ || find_options().second == options_) return;
  ignore(set_options(mount_, options_));
}

}  // namespace ocirun::linux
