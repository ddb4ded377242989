#include "runtime/checkpoint/huge_files.hpp"

#include <fcntl.h>

#include <string>
#include <string_view>

#include "linux/base/syscalls.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::string_view kHugetlbfs = "hugetlbfs";

// A source that cannot be opened is none of a container that is restored.
std::string real_path(const linux::Procfs& procfs, const std::string& path) {
  const auto file = linux::sys::open(path.c_str(), O_PATH);
  return file ? procfs.path_of(*file).value_or(path) : path;
}

bool shows_huge_files(const linux::Mount& wanted, std::string_view mountinfo,
                      const linux::Procfs& procfs) {
  if (wanted.remount) return false;
  if (!wanted.bind) return wanted.type == kHugetlbfs;
  const std::string source = real_path(procfs, wanted.source);
  while (const auto mount = linux::next_mount(mountinfo)) {
    const std::string point = linux::unescape_path(mount->mount_point);
    const bool is_shown = linux::is_at_or_below(source, point) ||
                          (wanted.recursive && linux::is_at_or_below(point, source));
    if (mount->type == kHugetlbfs && is_shown) return true;
  }
  return false;
}

}  // namespace

Result<void> check_no_huge_files(const bundle::Config& config, const linux::Procfs& procfs) {
  TRY_ASSIGN(const std::string table, linux::read_mountinfo(procfs));
  for (std::size_t i = 0; i < config.mounts.size(); ++i)
    if (shows_huge_files(config.mounts[i], table, procfs))
      return refuse(
          "/mounts/{}: the container has a file system of huge pages (hugetlbfs): forged images "
          "could make criu map its files over criu's own memory",
          i);
  return {};
}

}  // namespace ocirun::runtime
