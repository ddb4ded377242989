#include "criu/dump/directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

HostPath without_last_slashes(const HostPath& path) {
  std::string text = path.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return HostPath(text);
}

Result<UniqueFd> open_own(const HostPath& path, std::string_view option) {
  auto directory = linux::sys::open(path.c_str(), kDirectory);
  if (!directory && (directory.error().number() == ELOOP || directory.error().number() == ENOTDIR))
    return refuse("{} {}: must be a directory, and no symlink to one", option, path.string());
  if (!directory) return within(std::move(directory), std::string(option));
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(*directory));
  if (status.st_uid != ::geteuid())
    return refuse(
        "{} {}: belongs to user {}: must belong to the user who calls ocirun, because images hold "
        "the memory of the container",
        option, path.string(), status.st_uid);
  return directory;
}

Result<void> check_owner(const struct stat& status, std::string_view name) {
  if (status.st_uid != ::geteuid())
    return refuse("{}: belongs to user {}: must belong to the user who calls ocirun", name,
                  status.st_uid);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse("{}: other users may write to it (mode {:04o})", name, status.st_mode & 07777);
  return {};
}

// Allows sockets and directories: if --work-path names the same directory, the directory may hold
// the socket of a page server and directories that a killed criu has left.
Result<void> check_entry(Fd directory, const char* name) {
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstatat(directory, name));
  if (!S_ISREG(status.st_mode) && !S_ISSOCK(status.st_mode) && !S_ISDIR(status.st_mode))
    return refuse("{}: must be a regular file", linux::in_one_line(name));
  return check_owner(status, linux::in_one_line(name));
}

Result<void> check_owners(Fd directory) {
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(directory));
  OCIRUN_TRY(check_owner(status, "the directory"));
  return linux::for_each_entry(directory, [&](const char* name, unsigned char) -> Result<void> {
    return std::string_view(name) == kParentLink ? Result<void>{} : check_entry(directory, name);
  });
}

}  // namespace

Result<HostPath> follow_own_link(const HostPath& path) {
  const auto link = linux::sys::open(path.c_str(), O_PATH | O_NOFOLLOW);
  if (!link) return path;
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(*link));
  if (!S_ISLNK(status.st_mode) || status.st_uid != ::geteuid()) return path;
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, linux::sys::open(path.c_str(), O_PATH | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(std::string real, linux::host_path_of(directory));
  return HostPath(std::move(real));
}

Result<UniqueFd> open_or_make_directory(const HostPath& path, std::string_view option) {
  const HostPath clean = without_last_slashes(path);
  OCIRUN_TRY_ASSIGN(const UniqueFd parent, within(linux::open_parent(clean), std::string(option)));
  const std::string name = clean.string().substr(clean.string().rfind('/') + 1);
  if (const auto made = linux::sys::mkdirat(parent, name.c_str(), 0700);
      !made && made.error().number() != EEXIST)
    return fail(made.error().number(), "{}: make {}", option, clean.string());
  OCIRUN_TRY_ASSIGN(UniqueFd directory, open_own(clean, option));
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(directory));
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse(
        "{} {}: other users may write to it (mode {:04o}), and could put links in the place of "
        "images and logs: chmod go-w it",
        option, clean.string(), status.st_mode & 07777);
  return directory;
}

Result<UniqueFd> open_images(const HostPath& path, TrustImages trust) {
  const HostPath clean = without_last_slashes(path);
  OCIRUN_TRY_ASSIGN(UniqueFd directory, open_own(clean, "--image-path"));
  if (trust == TrustImages::kYes) return directory;
  auto checked = for_each_directory(directory, check_owners);
  if (checked) return directory;
  std::string frame = fmt::format("--image-path {}", clean.string());
  if (checked.error().number() == 0)
    frame +=
        ": images decide what runs as whom; chown them to the caller and chmod go-w them if you "
        "know their content, or give --trust-images";
  return std::unexpected(std::move(checked).error().within(std::move(frame)));
}

Result<void> for_each_directory(Fd images, const std::function<Result<void>(Fd)>& visit) {
  constexpr int kMost = 1000;
  UniqueFd opened;
  Fd directory = images;
  for (int count = 0; count < kMost; ++count) {
    OCIRUN_TRY(visit(directory));
    auto parent = linux::sys::openat(directory, kParentLink, O_RDONLY | O_DIRECTORY);
    if (!parent && parent.error().number() == ENOENT) {
      if (!linux::sys::fstatat(directory, kParentLink)) return {};
      return fail(ENOENT,
                  "the images of the pre-dump, to which the link named parent leads, are missing");
    }
    if (!parent) return std::unexpected(std::move(parent).error());
    opened = *std::move(parent);
    directory = opened;
  }
  return refuse("the links named parent lead to more than {} directories", kMost);
}

Result<std::vector<HostPath>> paths_of_images(Fd images) {
  std::vector<HostPath> paths;
  OCIRUN_TRY(for_each_directory(images, [&](Fd directory) -> Result<void> {
    OCIRUN_TRY_ASSIGN(std::string path, linux::host_path_of(directory));
    paths.emplace_back(std::move(path));
    return {};
  }));
  return paths;
}

Result<void> check_parent_path(Fd images, const std::string& parent) {
  if (parent.starts_with('/'))
    return refuse("--parent-path {}: must be relative to the directory of --image-path", parent);
  const auto opened = linux::sys::openat(images, parent.c_str(), O_PATH | O_DIRECTORY);
  if (!opened)
    return fail(opened.error().number(),
                "--parent-path {}: must be the directory of the last pre-dump", parent);
  return {};
}

Result<void> for_each_image(Fd images, std::string_view prefix,
                            const std::function<Result<void>(const char* name)>& visit) {
  return linux::for_each_entry(images, [&](const char* name, unsigned char) -> Result<void> {
    return std::string_view(name).starts_with(prefix) ? visit(name) : Result<void>{};
  });
}

Result<std::optional<std::string>> read_if_there(Fd images, const std::string& name,
                                                 std::size_t most) {
  auto text = linux::read_file(images, name, most, O_NOFOLLOW);
  if (text) return *std::move(text);
  if (text.error().number() == ENOENT) return std::nullopt;
  return std::unexpected(std::move(text).error().within(name));
}

}  // namespace ocirun::runtime
