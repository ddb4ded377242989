#include "criu/request/options_file.hpp"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "bundle/config/annotations.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

namespace sys = linux::sys;

/// Whether `path` is `directory` or below it, wherever symlinks of `directory` lead.
bool lies_in(const std::string& path, const std::string& directory) {
  const auto opened = sys::open(directory.c_str(), O_PATH);
  const auto real = opened ? linux::host_path_of(*opened) : Result<std::string>(directory);
  return real && *real != "/" && linux::is_at_or_below(path, *real);  // all is below "/"
}

/// A link of /proc leads to files of other mount namespaces, whose paths tell nothing here.
Result<UniqueFd> open_without_links_of_proc(const std::string& path) {
  auto file = sys::openat2(Fd{AT_FDCWD}, path.c_str(), O_PATH, RESOLVE_NO_MAGICLINKS);
  if (!file && file.error().number() == ENOSYS)  // before Linux 5.6
    return sys::open(path.c_str(), O_PATH);
  return file;
}

bool is_writable_bind(const linux::Mount& mount) {
  return mount.bind && !mount.remount && (mount.attributes.set & MOUNT_ATTR_RDONLY) == 0;
}

/// Returns the path without symlinks, which the container or another user could change later.
Result<std::string> check_file(const std::string& path, const bundle::Config& config) {
  OCIRUN_TRY_ASSIGN(const UniqueFd file, open_without_links_of_proc(path));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(file));
  if (!S_ISREG(info.st_mode)) return refuse("it is no regular file");
  if (info.st_uid != 0 && info.st_uid != ::geteuid())
    return refuse("it belongs to user {}: it must belong to root or to the caller", info.st_uid);
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse("its mode {:04o} lets others write: chmod go-w", info.st_mode & 07777);
  OCIRUN_TRY_ASSIGN(std::string real, linux::host_path_of(file));
  if (lies_in(real, config.root_path.string()))
    return refuse("it is a file of the container, and could name programs of the host for criu");
  for (const linux::Mount& mount : config.mounts)
    if (is_writable_bind(mount) && lies_in(real, mount.source))
      return refuse(
          "it lies in {}, to which the container may write, and could name programs of the host "
          "for criu",
          mount.source);
  return real;
}

}  // namespace

Result<std::string> config_file_of(const bundle::Config& config) {
  constexpr const char* kOfEngines = "/etc/criu/runc.conf";
  const auto named = config.annotations.find(std::string(bundle::kCriuConfig));
  if (named == config.annotations.end() || !bundle::is_criu_config(named->second))
    return std::string(sys::open(kOfEngines, O_PATH) ? kOfEngines : "");
  const std::string& path = named->second;
  if (path.empty()) return path;
  return within(within(check_file(path, config), path), "/annotations/{}", bundle::kCriuConfig);
}

}  // namespace ocirun::runtime
