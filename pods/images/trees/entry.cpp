#include "pods/images/trees/entry.hpp"

#include <sys/sysmacros.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"

namespace ocirun::pods {

const char* attribute_name(OpaqueMark mark) {
  return mark == OpaqueMark::kTrusted ? "trusted.overlay.opaque" : "user.overlay.opaque";
}

Result<bool> is_opaque(Fd directory, OpaqueMark mark) {
  const auto value = linux::sys::getxattr(directory, attribute_name(mark));
  if (value) return *value == "y";
  if (value.error().number() == ENODATA || value.error().number() == EOPNOTSUPP) return false;
  return std::unexpected(value.error());
}

bool is_whiteout(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0);
}

}  // namespace ocirun::pods
