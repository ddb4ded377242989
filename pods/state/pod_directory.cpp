#include "pods/state/pod_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "linux/base/file_io.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/directories.hpp"
#include "linux/files/owner_name.hpp"
#include "pods/documents/model/pod_fields.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr int kDirectory = O_RDONLY | O_DIRECTORY;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value != '/' ? "" : value;
}

/// Checks the owner and mode: a user who can write to the directory could make ocirun start any
/// program.
Result<void> check_private(Fd directory) {
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(directory));
  if (info.st_uid != ::geteuid())
    return refuse(
        "the directory belongs to {}, and must belong to user {} who uses it: --data names another "
        "directory",
        linux::owner_name(info.st_uid), ::geteuid());
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse("its mode {:04o} lets others write: chmod go-w", info.st_mode & 07777);
  return {};
}

}  // namespace

Result<HostPath> default_data_directory() {
  if (::geteuid() == 0) return HostPath("/var/lib/ocirun");
  const std::string data = variable("XDG_DATA_HOME");
  if (!data.empty()) return HostPath(data + "/ocirun");
  const std::string home = variable("HOME");
  if (!home.empty()) return HostPath(home + "/.local/share/ocirun");
  return refuse(
      "neither XDG_DATA_HOME nor HOME is an absolute path: --data DIR names the directory for "
      "images and pods");
}

Result<void> check_pod_name(std::string_view name) {
  if (is_pod_name(name)) return {};
  return refuse(
      "\"{}\" cannot be the name of a pod: 1 to {} letters, digits, \"-\", \"_\", \".\" that begin "
      "and end with a letter or digit; --name gives the pod another name",
      name, kLongestPodName);
}

Result<std::vector<std::string>> directories_in(Fd directory) {
  std::vector<std::string> names;
  OCIRUN_TRY(
      linux::for_each_entry(directory, [&](const char* name, unsigned char type) -> Result<void> {
        if (check_pod_name(name) && linux::is_directory(directory, name, type))
          names.emplace_back(name);
        return {};
      }));
  std::ranges::sort(names);
  return names;
}

std::string PodDirectory::path(std::string_view below) const {
  return fmt::format("{}/{}", path_, below);
}

HostPath PodDirectory::data() const {
  const std::size_t pod = path_.rfind('/');
  return HostPath(path_.substr(0, path_.rfind('/', pod - 1)));
}

Result<UniqueFd> PodDirectory::open_again() const {
  OCIRUN_TRY_ASSIGN(UniqueFd again, sys::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  OCIRUN_TRY_ASSIGN(const bool is_same, sys::is_same_file(again, directory_));
  if (!is_same) return refuse("{}: was replaced while the pod started", path_);
  return again;
}

Result<UniqueFd> PodDirectory::lock() const {
  OCIRUN_TRY_ASSIGN(UniqueFd file,
                    sys::openat(directory_, "lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR) return fail(errno == EWOULDBLOCK ? EAGAIN : errno, "lock the pod");
  // Another process may have removed the directory before, and made one of the same name.
  OCIRUN_TRY_ASSIGN(const struct stat own, sys::fstat(directory_));
  const auto named = sys::fstatat(parent_, name_.c_str());
  if (!named || named->st_dev != own.st_dev || named->st_ino != own.st_ino)
    return fail(ENOENT, "the pod \"{}\" was deleted meanwhile", name_);
  return file;
}

Result<void> PodDirectory::remove() const {
  // Under another name no other process finds a half of the pod, or makes a pod in it.
  std::string now = fmt::format(".{}.{}", name_, ::getpid());
  if (name_.starts_with('.') || !sys::renameat2(parent_, name_.c_str(), parent_, now.c_str(), 0))
    now = name_;
  return within(linux::remove_tree(parent_, now.c_str()), "remove {}", path_);
}

Result<PodsDirectory> PodsDirectory::open(const HostPath& data) {
  OCIRUN_TRY_ASSIGN(const HostPath absolute, linux::absolute_path(data.string()));
  const std::string path = absolute.string() + "/pods";
  auto opened = [&]() -> Result<PodsDirectory> {
    OCIRUN_TRY_ASSIGN(const UniqueFd above, linux::open_or_make_directory(absolute));
    OCIRUN_TRY(check_private(above));
    OCIRUN_TRY_ASSIGN(UniqueFd directory, linux::open_or_make_directory(above, "pods", 0700));
    OCIRUN_TRY(check_private(directory));
    return PodsDirectory(path, std::move(directory));
  }();
  return within(std::move(opened), path);
}

Result<std::vector<std::string>> PodsDirectory::names() const { return directories_in(directory_); }

Result<PodDirectory> PodsDirectory::open_pod(const std::string& name) const {
  OCIRUN_TRY(check_pod_name(name));
  auto directory = open_directory(name);
  if (!directory && directory.error().number() == ENOENT)
    return fail(ENOENT,
                "there is no pod \"{}\" in {} (`ocirun pod status` lists the pods; --data names "
                "another directory)",
                name, path_);
  return directory;
}

Result<PodDirectory> PodsDirectory::open_directory(const std::string& name) const {
  OCIRUN_TRY_ASSIGN(UniqueFd directory,
                    sys::openat(directory_, name.c_str(), kDirectory | O_NOFOLLOW));
  OCIRUN_TRY_ASSIGN(UniqueFd parent, sys::openat(directory_, ".", kDirectory));
  return PodDirectory(name, path_ + "/" + name, std::move(directory), std::move(parent));
}

Error name_is_taken(const std::string& name) {
  return Error(0,
               fmt::format("a pod \"{0}\" exists: `ocirun pod delete {0}` removes it, `ocirun pod "
                           "start {0}` runs it again, --replace replaces it, --name gives this "
                           "pod another name",
                           name));
}

Result<PodDirectory> PodsDirectory::make_pod(const std::string& name) const {
  OCIRUN_TRY(check_pod_name(name));
  if (auto made = sys::mkdirat(directory_, name.c_str(), 0700); !made) {
    if (made.error().number() != EEXIST) return std::unexpected(made.error());
    return std::unexpected(name_is_taken(name));
  }
  auto opened = open_pod(name);
  if (!opened) ignore(sys::unlinkat(directory_, name.c_str(), AT_REMOVEDIR));
  return opened;
}

Result<bool> PodsDirectory::remove_left(const std::string& name) const {
  const std::string prefix = fmt::format(".{}.", name);
  std::vector<std::string> left;
  OCIRUN_TRY(
      linux::for_each_entry(directory_, [&](std::string_view entry, unsigned char) -> Result<void> {
        const auto pid = entry.starts_with(prefix) ? linux::number<int>(entry.substr(prefix.size()))
                                                   : std::nullopt;
        if (pid && ::kill(*pid, 0) != 0 && errno == ESRCH) left.emplace_back(entry);
        return {};
      }));
  bool is_removed = false;
  for (const std::string& entry : left) {
    const auto directory = open_directory(entry);
    if (!directory || !directory->lock()) continue;  // a process of another pid namespace has it
    OCIRUN_TRY(directory->remove());
    is_removed = true;
  }
  return is_removed;
}

Result<Trial> PodsDirectory::make_trial(const std::string& name) const {
  OCIRUN_TRY(check_pod_name(name));
  // Until this function ends, no other process takes a new directory for one that was left.
  OCIRUN_TRY_ASSIGN(const UniqueFd alone, sys::openat(directory_, ".", kDirectory));
  while (::flock(alone.get(), LOCK_EX) != 0)
    if (errno != EINTR) return fail(errno, "lock {}", path_);
  OCIRUN_TRY(remove_left(name));
  const std::string trial = fmt::format(".{}.{}", name, ::getpid());
  OCIRUN_TRY(sys::mkdirat(directory_, trial.c_str(), 0700));
  OCIRUN_TRY_ASSIGN(PodDirectory directory, open_directory(trial));
  OCIRUN_TRY_ASSIGN(UniqueFd lock, directory.lock());
  return Trial{.directory = std::move(directory), .lock = std::move(lock)};
}

}  // namespace ocirun::pods
