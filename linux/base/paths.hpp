#pragma once

#include <string>
#include <utility>

#include "linux/base/error.hpp"

namespace ocirun {

/// A path that the operator gave. It is resolved in the runtime's own mount namespace and root. A
/// HostPath is never made from text of an image or a container, and does not convert to or from a
/// RootfsPath.
class HostPath {
 public:
  HostPath() = default;
  explicit HostPath(std::string path) : path_(std::move(path)) {}
  const std::string& string() const { return path_; }
  const char* c_str() const { return path_.c_str(); }
  bool empty() const { return path_.empty(); }
  bool is_absolute() const { return path_.starts_with('/'); }
  friend bool operator==(const HostPath&, const HostPath&) = default;

 private:
  std::string path_;
};

/// A path below a container's root ("/etc/passwd" and "etc/passwd" are the same). It is opened only
/// through SafeDir, which resolves every symlink in it below that root.
class RootfsPath {
 public:
  RootfsPath() = default;
  explicit RootfsPath(std::string path) : path_(std::move(path)) {}
  const std::string& string() const { return path_; }
  bool empty() const { return path_.empty(); }
  friend bool operator==(const RootfsPath&, const RootfsPath&) = default;

 private:
  std::string path_;
};

}  // namespace ocirun

namespace ocirun::linux {

/// Makes `path` absolute by the working directory, and removes "." and double slashes. Symbolic
/// links and ".." stay: the operator who wrote the path means them. Errors: the working directory
/// was removed.
Result<HostPath> absolute_path(const std::string& path);

}  // namespace ocirun::linux
