#pragma once

#include <string>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// A part of a volume that a container mounts (subPath of Kubernetes).
struct SubPath {
  std::string volume;     // its name in the document
  std::string source;     // the path of the volume on the host
  std::string path;       // of the part, relative to the volume
  bool may_make = false;  // what is absent becomes a directory
  bool recursive = true;
  std::string shown_at;  // the path of the host where show() shows the part
};

/// Checks that the part is there and that its path leads through no symlink, and makes what is
/// absent a directory with the mode of the volume if that is allowed.
Result<void> check(const SubPath& part);

/// Shows the part at `shown_at`, whose directory exists, for one start of a container; what an
/// earlier call has shown there is gone. A program that writes to the volume meanwhile changes
/// nothing in what is shown. Symlinks are followed inside the volume and never out of it
/// (CVE-2017-1002101, CVE-2021-25741). What is absent is made as in check().
Result<void> show(const SubPath& part);

}  // namespace ocirun::pods
