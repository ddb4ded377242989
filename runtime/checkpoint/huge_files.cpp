#include "runtime/checkpoint/huge_files.hpp"

#include <fcntl.h>

#include <string>

#include "linux/base/syscalls.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

// A source that cannot be opened is none of a container that is restored.
std::string real_path(const linux::Procfs& procfs, const std::string& path) {
  const auto file = linux::sys::open(path.c_str(), O_PATH);
  return file ? procfs.path_of(*file).value_or(path) : path;
}

}  // namespace

Result<void> check_no_huge_files(const bundle::Config& config, const linux::Procfs& procfs) {
  TRY_ASSIGN(const std::string table, linux::read_mountinfo(procfs));
  for (std::string_view rest = table; const auto mount = linux::next_mount(rest);) {
    if (mount->type != "hugetlbfs") continue;
    const std::string point = linux::unescape_path(mount->mount_point);
    for (std::size_t i = 0; i < config.mounts.size(); ++i) {
      const linux::Mount& bind = config.mounts[i];
      if (!bind.bind || bind.remount) continue;
      const std::string source = real_path(procfs, bind.source);
      const bool is_shown = linux::is_at_or_below(source, point) ||
                            (bind.recursive && linux::is_at_or_below(point, source));
      if (is_shown)
        return refuse(
            "/mounts/{}: the container has the file system of huge pages (hugetlbfs) on {}: forged "
            "images could make criu map its files over criu's own memory; give --trust-images if "
            "you know the origin of the images",
            i, point);
    }
  }
  return {};
}

}  // namespace ocirun::runtime
