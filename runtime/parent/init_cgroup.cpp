#include "runtime/parent/init_cgroup.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::runtime {
namespace {

/// The path of an open cgroup of the unified hierarchy, in the form of /proc/PID/cgroup.
Result<std::string> name_in_hierarchy(const linux::Procfs& procfs, Fd directory) {
  OCIRUN_TRY_ASSIGN(const cgroups::Layout layout, cgroups::read_layout(procfs));
  const auto unified = std::ranges::find(layout.hierarchies, true, &cgroups::Hierarchy::unified);
  if (unified == layout.hierarchies.end()) return refuse("no unified hierarchy is mounted");
  OCIRUN_TRY_ASSIGN(const std::string path, procfs.path_of(directory));
  const std::string& top = unified->mount_point.string();
  if (!path.starts_with(top + "/")) return refuse("{} is not below {}", path, top);
  return (unified->root == "/" ? "" : unified->root) + path.substr(top.size());
}

}  // namespace

bool has_no_room_for_processes(int error) { return error == EBUSY || error == EOPNOTSUPP; }

std::optional<std::string> path_below(std::string_view text, std::string_view container) {
  // The line of the unified hierarchy begins with "0::". A line such as "4:memory:/a" belongs to a
  // v1 hierarchy.
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
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                    linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  OCIRUN_TRY_ASSIGN(const std::string name, name_in_hierarchy(procfs, container));
  OCIRUN_TRY_ASSIGN(const std::string text, procfs.read_value(fmt::format("{}/cgroup", init)));
  const auto below = path_below(text, name);
  if (!below)
    return refuse(
        "the container's cgroup {} takes no process, because it hands controllers down to "
        "cgroups below it, and the container's init is in none of those: name one with "
        "--cgroup",
        name);
  OCIRUN_TRY_ASSIGN(UniqueFd top, linux::sys::openat(container, ".", O_PATH | O_DIRECTORY));
  return linux::SafeDir(std::move(top))
      .open(RootfsPath(*below), O_PATH | O_DIRECTORY, linux::SafeDir::Symlinks::kRefuse);
}

namespace {

// The files to delegate according to cgroups(7), for kernels before 4.15, which list no such files.
constexpr std::string_view kUsualFiles = "cgroup.procs\ncgroup.subtree_control\ncgroup.threads\n";
constexpr std::size_t kMaxList = 4096;  // a file of sysfs has at most one page

std::string files_to_delegate() {
  const auto file = linux::sys::open("/sys/kernel/cgroup/delegate", O_RDONLY | O_CLOEXEC);
  std::string text(kMaxList, '\0');
  const ssize_t size = file ? ::read(file->get(), text.data(), text.size()) : -1;
  if (size <= 0) return std::string(kUsualFiles);
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::uint32_t> owner_of(const bundle::Config& config) {
  const Uid user = config.process ? config.process->user.uid : Uid();
  if (config.id_map.empty()) return user.value();
  return config.id_map.host_uid(user);
}

Result<void> give(Fd cgroup, const std::string& file, std::uint32_t owner) {
  const int flags = AT_SYMLINK_NOFOLLOW | (file.empty() ? AT_EMPTY_PATH : 0);
  if (::fchownat(cgroup.value, file.c_str(), owner, static_cast<gid_t>(-1), flags) == 0) return {};
  if (errno == ENOENT && !file.empty()) return {};
  return fail(errno, "give the cgroup{}{} to user {}", file.empty() ? "" : "'s ", file, owner);
}

bool governs_cgroup(const bundle::Config& config) {
  if (!config.namespaces.creates(linux::NamespaceKind::kCgroup)) return false;
  // The last mount on a path covers the earlier ones.
  const auto mount = std::find_if(
      config.mounts.rbegin(), config.mounts.rend(),
      [](const linux::Mount& m) { return m.destination.string() == "/sys/fs/cgroup"; });
  if (mount == config.mounts.rend() || mount->type != "cgroup" || mount->source != "cgroup")
    return false;
  const std::uint64_t flags = mount->attributes.set | mount->recursive_attributes.set;
  return (flags & MOUNT_ATTR_RDONLY) == 0;
}

}  // namespace

Result<void> delegate_cgroup(const bundle::Config& config, const cgroups::Layout& layout,
                             Fd cgroup) {
  if (cgroup.value < 0 || !layout.pure_v2() || !governs_cgroup(config)) return {};
  const auto owner = owner_of(config);
  if (!owner)
    return refuse(
        "/process/user/uid: is not mapped by /linux/uidMappings, so the cgroup is not given to "
        "the container's user");
  struct stat now{};
  if (::fstat(cgroup.value, &now) == 0 && now.st_uid == *owner) return {};
  OCIRUN_TRY(give(cgroup, "", *owner));
  const std::string files = files_to_delegate();
  for (std::size_t begin = 0; begin < files.size();) {
    const std::size_t end = std::min(files.find('\n', begin), files.size());
    if (end > begin) OCIRUN_TRY(give(cgroup, files.substr(begin, end - begin), *owner));
    begin = end + 1;
  }
  return {};
}

}  // namespace ocirun::runtime
