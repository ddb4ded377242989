#pragma once

#include <string>
#include <utility>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"
#include "pods/prepare/mounts.hpp"

namespace ocirun::pods {

/// The new directory of --output. A child process makes the directory. The child removes the
/// directory when this object or the caller's process ends, unless keep() was called before: so the
/// directory is never left incomplete, not even after SIGKILL.
class NewDirectory {
 public:
  /// Makes `path`. The caller must have a single thread. Errors: `path` exists; ENOENT: its parent
  /// is missing; EACCES …
  static Result<NewDirectory> make(const HostPath& path);
  NewDirectory(NewDirectory&& other) noexcept
      : directory_(std::move(other.directory_)),
        path_(std::move(other.path_)),
        keeper_(std::exchange(other.keeper_, {})),
        life_(std::move(other.life_)) {}
  NewDirectory& operator=(NewDirectory&&) = delete;
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;
  /// Returns when the directory is removed.
  ~NewDirectory();

  Site site() const { return {.fd = directory_, .path = path_}; }
  void keep();

 private:
  NewDirectory(UniqueFd directory, std::string path, linux::Child keeper, UniqueFd life)
      : directory_(std::move(directory)),
        path_(std::move(path)),
        keeper_(std::move(keeper)),
        life_(std::move(life)) {}

  UniqueFd directory_;
  std::string path_;
  linux::Child keeper_;  // of the directory
  UniqueFd life_;        // keeper_ reads the end of this pipe when the caller closes it or ends
};

}  // namespace ocirun::pods
