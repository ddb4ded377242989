#include "linux/files/owner.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/owner_name.hpp"

namespace ocirun::linux {
namespace {

constexpr int kMostLinks = 40;  // like the kernel

/// Resolves a path one component after the other. Refuses symlinks of users other than root and the
/// caller.
class LinkWalk {
 public:
  explicit LinkWalk(const std::string& path) : path_(path) { push(path); }

  Result<UniqueFd> run() {
    OCIRUN_TRY_ASSIGN(at_, sys::open(path_.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY));
    while (!left_.empty()) {
      const std::string name = std::move(left_.back());
      left_.pop_back();
      OCIRUN_TRY_ASSIGN(UniqueFd next,
                        sys::openat(at_, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      OCIRUN_TRY_ASSIGN(const struct stat status, sys::fstat(next));
      if (S_ISLNK(status.st_mode))
        OCIRUN_TRY(follow(next, name, status.st_uid));
      else
        at_ = std::move(next);
    }
    return sys::openat(at_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }

 private:
  // Pushes the components in reverse, so that the next one is at the end of `left_`.
  void push(std::string_view path) {
    std::vector<std::string_view> names = split(path, '/');
    for (; !names.empty(); names.pop_back())
      if (!names.back().empty()) left_.emplace_back(names.back());
  }

  Result<void> follow(Fd link, const std::string& name, uid_t owner) {
    if (owner != 0 && owner != ::geteuid())
      return refuse("{}: the link {} belongs to {}, who chooses where it leads", path_, name,
                    owner_name(owner));
    if (++links_ > kMostLinks) return fail(ELOOP, "open {}", path_);
    OCIRUN_TRY_ASSIGN(const std::string target, sys::readlinkat(link, ""));
    if (target.starts_with('/')) {
      OCIRUN_TRY_ASSIGN(at_, sys::open("/", O_PATH | O_DIRECTORY));
    }
    push(target);
    return {};
  }

  const std::string& path_;
  UniqueFd at_;
  std::vector<std::string> left_;
  int links_ = 0;
};

/// The "user_id=" option of the FUSE filesystem with the device number `device`.
std::optional<std::uint32_t> server_of(dev_t device) {
  constexpr std::string_view kOption = "user_id=";
  const auto procfs = Procfs::open(Procfs::Subset::kProcesses);
  const auto mounts = procfs ? read_mountinfo(*procfs) : std::string();
  if (!mounts) return std::nullopt;
  const std::string number = fmt::format("{}:{}", major(device), minor(device));
  std::string_view rest = *mounts;
  while (const auto mount = next_mount(rest))
    if (mount->device == number)
      for (const std::string_view option : split(mount->options, ','))
        if (option.starts_with(kOption))
          return linux::number<std::uint32_t>(option.substr(kOption.size()));
  return std::nullopt;
}

}  // namespace

Result<UniqueFd> open_by_own_links(const std::string& path) { return LinkWalk(path).run(); }

Result<std::uint32_t> owner_of(Fd directory) {
  OCIRUN_TRY_ASSIGN(const struct stat status, sys::fstat(directory));
  OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo filesystem, sys::fstatfs(directory));
  if (filesystem.magic != FUSE_SUPER_MAGIC) return status.st_uid;
  return server_of(status.st_dev).value_or(status.st_uid);
}

}  // namespace ocirun::linux
