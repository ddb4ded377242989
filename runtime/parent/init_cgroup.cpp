#include "runtime/parent/init_cgroup.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::runtime {
namespace {

/// The name of an open directory of the unified hierarchy, as /proc/PID/cgroup shows it.
Result<std::string> name_in_hierarchy(const linux::Procfs& procfs, Fd directory) {
  TRY_ASSIGN(const cgroups::Layout layout, cgroups::read_layout(procfs));
  const auto unified = std::ranges::find(layout.hierarchies, true, &cgroups::Hierarchy::unified);
  if (unified == layout.hierarchies.end()) return refuse("no unified hierarchy is mounted");
  TRY_ASSIGN(const std::string path, procfs.path_of(directory));
  const std::string& top = unified->mount_point.string();
  if (!path.starts_with(top + "/")) return refuse("{} is not below {}", path, top);
  return (unified->root == "/" ? "" : unified->root) + path.substr(top.size());
}

}  // namespace

bool has_no_room_for_processes(int error) { return error == EBUSY || error == EOPNOTSUPP; }

std::optional<std::string> path_below(std::string_view text, std::string_view container) {
  // Lines such as "4:memory:/a" are of v1. The unified hierarchy's line begins with "0::".
  std::size_t begin = text.starts_with("0::") ? 0 : text.find("\n0::");
  if (begin == std::string_view::npos) return std::nullopt;
  begin = text.find("::", begin) + 2;
  std::string_view path = text.substr(begin, text.find('\n', begin) - begin);
  if (!path.starts_with(container)) return std::nullopt;
  path.remove_prefix(container.size());
  if (path.size() < 2 || path.front() != '/') return std::nullopt;
  return std::string(path.substr(1));
}

Result<UniqueFd> open_cgroup_of_init(Fd container, int init) {
  TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  TRY_ASSIGN(const std::string name, name_in_hierarchy(procfs, container));
  TRY_ASSIGN(const std::string text, procfs.read(fmt::format("{}/cgroup", init)));
  const auto below = path_below(text, name);
  if (!below)
    return refuse(
        "the container's cgroup {} takes no process, because it hands controllers down to "
        "cgroups below it, and the container's init is in none of those: name one with "
        "--cgroup",
        name);
  TRY_ASSIGN(UniqueFd top, linux::sys::openat(container, ".", O_PATH | O_DIRECTORY));
  return linux::SafeDir(std::move(top))
      .open(RootfsPath(*below), O_PATH | O_DIRECTORY, linux::SafeDir::Symlinks::kRefuse);
}

}  // namespace ocirun::runtime
