#pragma once

#include <dirent.h>

#include <memory>
#include <optional>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// The entries of a directory, one after another. A caller who needs the descriptors for something
/// else can remember the position, close the listing, and go on later in another one of the same
/// unchanged directory.
class Listing {
 public:
  /// Opens the directory `name` of `parent`. A symlink is an error.
  static Result<Listing> open(Fd parent, const char* name);
  Listing() = default;  // closed

  Fd fd() const { return Fd{::dirfd(stream_.get())}; }  // of the directory
  /// The next name, without "." and ".."; nothing at the end.
  Result<std::optional<std::string>> next();
  /// Behind the name that next() gave last.
  long position() const { return ::telldir(stream_.get()); }
  void seek(long position) { ::seekdir(stream_.get(), position); }

 private:
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  std::unique_ptr<DIR, Close> stream_;
};

}  // namespace ocirun::pods
