#include "runtime/parent/delegation.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "linux/base/syscalls.hpp"

namespace ocirun::runtime {
namespace {

// The files that cgroups(7) delegates, for kernels that do not list them (before 4.15).
constexpr std::string_view kUsualFiles = "cgroup.procs\ncgroup.subtree_control\ncgroup.threads\n";
constexpr std::size_t kMaxList = 4096;  // the kernel's attributes are one page

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
  TRY(give(cgroup, "", *owner));
  const std::string files = files_to_delegate();
  for (std::size_t begin = 0; begin < files.size();) {
    const std::size_t end = std::min(files.find('\n', begin), files.size());
    if (end > begin) TRY(give(cgroup, files.substr(begin, end - begin), *owner));
    begin = end + 1;
  }
  return {};
}

}  // namespace ocirun::runtime
