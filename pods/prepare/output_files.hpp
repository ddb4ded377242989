#pragma once

#include <sys/types.h>

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// The files that a command writes into the directory of --output: all of them or, without keep(),
/// none that was not there before. A file that was there is replaced, and stays replaced.
class OutputFiles {
 public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  /// Removes the files and directories that are new.
  ~OutputFiles();

  /// Opens the directory `name` in `parent`, and makes it if it is absent. The descriptor is valid
  /// as long as this object.
  Result<Fd> open_or_make(Fd parent, const std::string& name);
  /// Writes a file atomically. `directory` must be open until this object ends or keep() is called.
  Result<void> write(Fd directory, const std::string& name, std::string_view text, mode_t mode);
  void keep() { made_.clear(); }

 private:
  struct Made {
    Fd parent;
    std::string name;
    int flags;  // for unlinkat(2)
  };
  std::deque<UniqueFd> directories_;
  std::vector<Made> made_;
};

/// Checks that the file `name` in `directory` may be replaced: it is absent, or its text begins
/// with `first_words`. Returns whether the file is there. Errors: EEXIST: another text, so that
/// `pod COMMAND` has not written the file; it is no regular file.
Result<bool> check_own_file(Fd directory, const std::string& name, std::string_view first_words,
                            std::string_view command);
/// Checks that the file `name` in `directory` is absent, or has the content `text`. Errors: EEXIST,
/// another content; it is no regular file.
Result<void> check_same_file(Fd directory, const std::string& name, std::string_view text);

}  // namespace ocirun::pods
