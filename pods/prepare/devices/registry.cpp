#include "pods/prepare/devices/registry.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/owner_name.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "pods/documents/model/device_names.hpp"
#include "pods/documents/source.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::size_t kMostFiles = 1024;  // of a directory
constexpr std::size_t kMostShown = 20;    // names in a message

/// Hooks and mounts of a specification reach the host as the caller does. In a user namespace that
/// does not map root to root, the owner of a file of the host's root is not known.
Result<void> check_owner(const struct stat& info) {
  if (linux::is_root_outside() && info.st_uid != 0)
    return refuse("it belongs to {}: it must belong to root, because its hooks run as root",
                  linux::owner_name(info.st_uid));
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse("its mode {:04o} lets others write: chmod go-w", info.st_mode & 07777);
  return {};
}

/// Whoever owns a directory on the way, or may write to it, decides what lies behind. In a
/// directory with the sticky bit, others cannot replace what they do not own.
Result<void> check_way(const struct stat& info, const std::string& name) {
  if (linux::is_root_outside() && info.st_uid != 0)
    return refuse("the {} {} on the way belongs to {}: it must belong to root",
                  S_ISLNK(info.st_mode) ? "symlink" : "directory", name,
                  linux::owner_name(info.st_uid));
  const bool is_shared = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0;
  if (S_ISDIR(info.st_mode) && is_shared)
    return refuse("the directory {} on the way has the mode {:04o}, which lets others write", name,
                  info.st_mode & 07777);
  return {};
}

/// Opens `path`, which begins at the directory `start` unless it is absolute. Checks each directory
/// and symlink on the way, those behind symlinks too.
Result<UniqueFd> open_by_checked_way(Fd start, const std::string& path, int flags) {
  constexpr int kMostSymlinks = 40;  // as the kernel follows
  OCIRUN_TRY_ASSIGN(UniqueFd here, sys::openat(start, path.starts_with('/') ? "/" : ".", O_PATH));
  std::vector<std::string> rest;  // the next component is the last of these
  const auto put_before = [&](std::string_view text) {
    const auto parts = linux::words(text, '/');
    rest.insert(rest.end(), parts.rbegin(), parts.rend());
  };
  put_before(path);
  int symlinks = 0;
  while (!rest.empty()) {
    const std::string name = std::exchange(rest.back(), {});
    rest.pop_back();
    if (name.empty()) continue;
    OCIRUN_TRY_ASSIGN(UniqueFd next, sys::openat(here, name.c_str(), O_PATH | O_NOFOLLOW));
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(next));
    const bool is_link = S_ISLNK(info.st_mode);
    if (is_link || !rest.empty()) OCIRUN_TRY(check_way(info, name));
    if (!is_link && rest.empty()) return sys::openat(here, name.c_str(), flags | O_NOFOLLOW);
    if (!is_link) {
      here = std::move(next);
      continue;
    }
    if (++symlinks > kMostSymlinks) return fail(ELOOP, "open {}", path);
    OCIRUN_TRY_ASSIGN(const std::string target, sys::readlinkat(next, ""));
    if (target.starts_with('/')) {
      OCIRUN_TRY_ASSIGN(here, sys::open("/", O_PATH));
    }
    put_before(target);
  }
  return sys::openat(here, ".", flags);
}

Result<std::string> text_of_file(Fd directory, const std::string& name) {
  OCIRUN_TRY_ASSIGN(const UniqueFd file,
                    open_by_checked_way(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(file));
  if (!S_ISREG(info.st_mode)) return refuse("it is no regular file");
  OCIRUN_TRY(check_owner(info));
  return sys::read_all(file, Source::kMostBytes);
}

/// "a, b, c", of which only the first kMostShown are told.
std::string shown(const std::vector<std::string>& names) {
  const std::size_t count = std::min(names.size(), kMostShown);
  return fmt::format("{}{}",
                     fmt::join(names.begin(), names.begin() + static_cast<long>(count), ", "),
                     count < names.size() ? ", …" : "");
}

void sort_and_unite(std::vector<std::string>& names) {
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
}

}  // namespace

std::string FoundDevice::full_name() const {
  return fmt::format("{}={}", spec->kind, device->name);
}

Result<DeviceRegistry> DeviceRegistry::read(const DeviceDirectories& directories) {
  DeviceRegistry registry;
  registry.paths_ = directories.paths;
  for (std::size_t i = 0; i < directories.paths.size(); ++i)
    OCIRUN_TRY(within(registry.read_directory(directories.paths[i], i, directories.may_be_absent),
                      "CDI specifications in {}", directories.paths[i]));
  return registry;
}

Result<void> DeviceRegistry::read_directory(const std::string& path, std::size_t index,
                                            bool may_be_absent) {
  const auto directory = open_by_checked_way(Fd{AT_FDCWD}, path, O_RDONLY | O_DIRECTORY);
  if (!directory && directory.error().number() == ENOENT && may_be_absent) return {};
  if (!directory) return std::unexpected(directory.error());
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(*directory));
  OCIRUN_TRY(check_owner(info));
  std::vector<std::string> names;
  OCIRUN_TRY(
      linux::for_each_entry(*directory, [&](const char* entry, unsigned char) -> Result<void> {
        const std::string_view name = entry;
        if (name.ends_with(".json") || name.ends_with(".yaml")) names.emplace_back(name);
        return {};
      }));
  if (names.size() > kMostFiles)
    return refuse("there are {} files, at most {} are read", names.size(), kMostFiles);
  std::ranges::sort(names);
  for (const std::string& name : names)
    read_file(*directory, name, fmt::format("{}/{}", path, name), index);
  return {};
}

void DeviceRegistry::read_file(Fd directory, const std::string& name, const std::string& path,
                               std::size_t index) {
  const auto text = text_of_file(directory, name);
  if (!text && text.error().number() == ENOENT) return;  // its vendor has removed it meanwhile
  if (!text) {
    broken_.push_back({.file = path,
                       .kind = {},
                       .problems = {fmt::format("{}: {}", path, text.error().message())}});
    return;
  }
  auto spec = read_cdi_spec(path, *text);
  if (spec)
    specs_.push_back({.spec = *std::move(spec), .directory = index});
  else
    broken_.push_back(std::move(spec.error()));
}

bool DeviceRegistry::has_kind(std::string_view kind) const {
  return std::ranges::any_of(specs_,
                             [&](const Ranked& ranked) { return ranked.spec.kind == kind; }) ||
         std::ranges::find(broken_, kind, &BrokenSpec::kind) != broken_.end();
}

std::vector<std::string> DeviceRegistry::kinds_of_class(std::string_view name) const {
  std::vector<std::string> kinds;
  for (const Ranked& ranked : specs_)
    if (class_of_kind(ranked.spec.kind) == name) kinds.push_back(ranked.spec.kind);
  for (const BrokenSpec& broken : broken_)  // find() tells what is wrong with the file
    if (!broken.kind.empty() && class_of_kind(broken.kind) == name) kinds.push_back(broken.kind);
  sort_and_unite(kinds);
  return kinds;
}

Result<void> DeviceRegistry::check_kind(const std::string& kind) const {
  for (const BrokenSpec& broken : broken_)
    if (broken.kind == kind)
      return refuse("a CDI specification of the kind {} cannot be used: {}", kind,
                    fmt::join(broken.problems, "; "));
  if (has_kind(kind)) return {};
  std::vector<std::string> kinds;
  for (const Ranked& ranked : specs_) kinds.push_back(ranked.spec.kind);
  sort_and_unite(kinds);
  std::string unread;
  for (const BrokenSpec& broken : broken_)
    unread += fmt::format("; a file that cannot be used: {}", fmt::join(broken.problems, "; "));
  return refuse("no CDI specification in {} has devices of the kind {}{}{}",
                fmt::join(paths_, ", "), kind,
                kinds.empty() ? "" : fmt::format(" (there are {})", shown(kinds)), unread);
}

std::vector<std::string> DeviceRegistry::names_of(const std::string& kind) const {
  std::vector<std::string> names;
  for (const Ranked& ranked : specs_)
    if (ranked.spec.kind == kind)
      for (const CdiDevice& device : ranked.spec.devices) names.push_back(device.name);
  sort_and_unite(names);
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return compare_device_names(a, b) < 0;
  });
  return names;
}

Result<FoundDevice> DeviceRegistry::find(const std::string& kind, const std::string& name) const {
  OCIRUN_TRY(check_kind(kind));
  FoundDevice found;
  std::size_t directory = 0;
  const CdiSpec* rival = nullptr;
  for (const Ranked& ranked : specs_) {  // in the order of the directories
    if (ranked.spec.kind != kind) continue;
    const auto device = std::ranges::find(ranked.spec.devices, name, &CdiDevice::name);
    if (device == ranked.spec.devices.end()) continue;
    rival = found.spec != nullptr && directory == ranked.directory ? found.spec : nullptr;
    found = {.spec = &ranked.spec, .device = &*device};
    directory = ranked.directory;
  }
  if (found.spec == nullptr)
    return refuse("{} has no device \"{}\": its devices are {}", kind, name, shown(names_of(kind)));
  if (rival != nullptr)
    return refuse("both {} and {} describe the device {}={}", rival->file, found.spec->file, kind,
                  name);
  return found;
}

Result<std::vector<std::string>> DeviceRegistry::names(const std::string& kind) const {
  OCIRUN_TRY(check_kind(kind));
  return names_of(kind);
}

}  // namespace ocirun::pods
