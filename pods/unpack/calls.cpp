#include "pods/unpack/calls.hpp"

#include <fcntl.h>

#include <cerrno>
#include <string>
#include <vector>

#include "pods/confined/calls.hpp"

namespace ocirun::pods {
namespace {

const std::vector<std::string> kFilling{
    "pwrite64",   "ftruncate", "ftruncate64", "fstatfs",         "fstatfs64",    "readlinkat",
    "mkdirat",    "mknodat",   "symlinkat",   "linkat",          "unlinkat",     "renameat2",
    "fchown",     "fchownat",  "fchmod",      "chmod",           "fchmodat",     "utimensat",
    "getdents64", "fsetxattr", "fgetxattr",   "flistxattr",      "fremovexattr", "setxattr",
    "getxattr",   "listxattr", "removexattr", "utimensat_time64"};

const std::vector<std::string> kOpening{"open", "openat", "openat2"};

/// The first argument of openat(2) is a descriptor, or AT_FDCWD, a negative number.
constexpr std::uint64_t kSign = 0x80000000;

linux::SeccompProfile profile_for(ArchiveWork work) {
  linux::SeccompProfile profile = least_calls();
  if (work == ArchiveWork::kIndex) {
    answer(profile, ENOENT, kOpening);
    return profile;
  }
  allow(profile, kFilling);
  for (const int command : {F_GETFL, F_SETFD})  // fdopendir(3)
    allow(profile, {"fcntl", "fcntl64"}, {equals(1, static_cast<std::uint64_t>(command))});
  answer(profile, ENOENT, {"open"});
  allow(profile, {"openat", "openat2"}, {bits(0, kSign, 0)});
  answer(profile, ENOENT, {"openat", "openat2"}, {bits(0, kSign, kSign)});
  return profile;
}

}  // namespace

Result<void> allow_calls(ArchiveWork work) { return load_calls(profile_for(work)); }

}  // namespace ocirun::pods
