#include "runtime/checkpoint/huge_files.hpp"

#include <string>
#include <string_view>

#include "linux/files/mountinfo.hpp"
#include "linux/mounts/mount_point.hpp"
#include "runtime/checkpoint/outside_mounts.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::string_view kHugetlbfs = "hugetlbfs";

bool shows_huge_files(const linux::Mount& wanted, std::string_view mountinfo) {
  if (wanted.remount) return false;
  if (!wanted.bind) return wanted.type == kHugetlbfs;
  const std::string source = without_links(wanted.source);
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
    if (shows_huge_files(config.mounts[i], table))
      return refuse(
          "/mounts/{}: the container has a file system of huge pages (hugetlbfs): forged images "
          "could make criu map its files over criu's own memory",
          i);
  return {};
}

}  // namespace ocirun::runtime
