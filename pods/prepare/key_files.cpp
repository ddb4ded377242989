#include "pods/prepare/key_files.hpp"

#include <fcntl.h>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/images/directories.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr mode_t kFileMode = 0644;       // of Kubernetes, unless the document has another
constexpr mode_t kDirectoryMode = 0755;  // whatever the umask is

Result<void> write_one(Fd directory, const std::string& path, const std::string& bytes,
                       mode_t mode) {
  TRY_ASSIGN(UniqueFd parent, sys::openat(directory, ".", O_RDONLY | O_DIRECTORY));
  const auto parts = linux::words(path, '/');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const std::string name(parts[i]);
    TRY_ASSIGN(parent, open_or_make_directory(parent, name.c_str(), kDirectoryMode));
    TRY(sys::fchmod(parent, kDirectoryMode));
  }
  return linux::replace_file(parent, std::string(parts.back()), bytes, mode);
}

}  // namespace

Result<void> write_key_files(const Volume& volume, const std::map<std::string, std::string>& keys,
                             Fd directory) {
  const mode_t mode = volume.file_mode.value_or(kFileMode);
  if (!volume.items) {
    for (const auto& [key, bytes] : keys) TRY(write_one(directory, key, bytes, mode));
    return {};
  }
  for (const KeyFile& file : *volume.items) {
    const auto key = keys.find(file.key);
    if (key != keys.end())
      TRY(write_one(directory, file.path, key->second, file.mode.value_or(mode)));
    else if (!volume.is_optional)
      return refuse("there is no key \"{}\" for the file \"{}\"", file.key, file.path);
  }
  return {};
}

}  // namespace ocirun::pods
