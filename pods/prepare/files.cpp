#include "pods/prepare/files.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/directories.hpp"
#include "pods/prepare/plan/expansion.hpp"

namespace ocirun::pods {
namespace sys = linux::sys;

Result<std::vector<BoundPath>> write_config_files(const Container& container, const Given& given,
                                                  Fd directory, const std::string& path) {
  std::vector<BoundPath> bound;
  if (container.config_files.empty()) return bound;
  OCIRUN_TRY_ASSIGN(const UniqueFd files, linux::open_or_make_directory(directory, "files", 0700));
  std::map<std::string_view, std::string> by_content;  // the names of files
  for (std::size_t i = 0; i < container.config_files.size(); ++i) {
    const ConfigFile& file = container.config_files[i];
    const std::string name = fmt::format("{}", i);
    const std::string& content =
        file.parameter ? given.bindings.parameters.at(*file.parameter) : *file.value;
    const auto [same, is_new] = by_content.emplace(content, name);
    if (is_new) OCIRUN_TRY(linux::replace_file(files, name, content, 0644));
    bound.push_back({.source = fmt::format("{}/files/{}", path, same->second),
                     .destination = file.path,
                     .read_only = true,
                     .recursive = false});
  }
  return bound;
}

namespace {

constexpr mode_t kFileMode = 0644;       // of Kubernetes, unless the document has another
constexpr mode_t kDirectoryMode = 0755;  // whatever the umask is

/// Writes the files of a volume.
class KeyFiles {
 public:
  /// `group`: of the files, whose members can then read them.
  KeyFiles(Fd directory, std::optional<Gid> group, std::size_t& copied)
      : directory_(directory), group_(group), copied_(copied) {}

  Result<void> write(const std::string& path, const std::string& key, const std::string& bytes,
                     mode_t mode) {
    OCIRUN_TRY_ASSIGN(const Fd parent, make_parent(path));
    const std::string name(linux::words(path, '/').back());
    const auto [same, is_new] = written_.try_emplace({key, mode}, Written{});
    if (!is_new) {
      const auto linked =
          linux::sys::linkat(same->second.parent, same->second.name.c_str(), parent, name.c_str());
      // EMLINK: ext4 has at most 65,000 names for a file; the next name is of a new one.
      if (linked || linked.error().number() != EMLINK) return linked;
    }
    same->second = {.parent = parent, .name = name};
    copied_ += bytes.size();
    if (copied_ > kMostCopied)
      return refuse(
          "the files of secrets and config maps take more than {} MiB: items of one key and one "
          "mode take no more than one",
          kMostCopied >> 20);
    OCIRUN_TRY(linux::replace_file(parent, name, bytes, mode));
    return group_ ? give(parent, name, mode) : Result<void>();
  }

 private:
  struct Written {
    Fd parent{-1};
    std::string name;
  };

  Result<Fd> make_parent(const std::string& path) {
    const std::string above = path.substr(0, std::min(path.rfind('/'), path.size()));
    if (above.size() == path.size()) return directory_;
    const auto known = parents_.find(above);
    if (known != parents_.end()) return Fd(known->second);
    OCIRUN_TRY_ASSIGN(UniqueFd parent, sys::openat(directory_, ".", O_RDONLY | O_DIRECTORY));
    for (const std::string_view part : linux::words(above, '/')) {
      OCIRUN_TRY_ASSIGN(
          parent, linux::open_or_make_directory(parent, std::string(part).c_str(), kDirectoryMode));
      OCIRUN_TRY(sys::fchmod(parent, kDirectoryMode));
    }
    return Fd(parents_.emplace(above, std::move(parent)).first->second);
  }

  Result<void> give(Fd parent, const std::string& name, mode_t mode) const {
    constexpr mode_t kReadable = 0440;
    OCIRUN_TRY_ASSIGN(const UniqueFd file,
                      sys::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW));
    OCIRUN_TRY_ASSIGN(const struct stat status, sys::fstat(file));
    OCIRUN_TRY(sys::fchown(file, status.st_uid, group_->value()));
    return sys::fchmod(file, mode | kReadable);
  }

  Fd directory_;
  std::optional<Gid> group_;
  std::size_t& copied_;
  std::map<std::string, UniqueFd> parents_;
  std::map<std::pair<std::string, mode_t>, Written> written_;  // the last file of a key and a mode
};

}  // namespace

Result<void> write_key_files(const Volume& volume, const std::map<std::string, std::string>& keys,
                             Fd directory, std::size_t& copied) {
  const mode_t mode = volume.file_mode.value_or(kFileMode);
  KeyFiles files(directory, volume.group, copied);
  if (!volume.items) {
    for (const auto& [key, bytes] : keys) OCIRUN_TRY(files.write(key, key, bytes, mode));
    return {};
  }
  for (const KeyFile& file : *volume.items) {
    const auto key = keys.find(file.key);
    if (key != keys.end())
      OCIRUN_TRY(files.write(file.path, file.key, key->second, file.mode.value_or(mode)));
    else if (!volume.is_optional)
      return refuse("there is no key \"{}\" for the file \"{}\"", file.key, file.path);
  }
  return {};
}

}  // namespace ocirun::pods
