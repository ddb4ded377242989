#include "pods/images/unnamed_file.hpp"

#include <fcntl.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "linux/base/syscalls.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

/// For filesystems without O_TMPFILE, such as overlayfs before Linux 6.3.
Result<UniqueFd> make_and_unlink(Fd directory) {
  for (;;) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
      return sys::last_error("choose a random name");
    const std::string name = fmt::format("ocirun-{:016x}", number);
    auto made = sys::openat(directory, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!made && made.error().number() == EEXIST) continue;
    if (made) TRY(sys::unlinkat(directory, name.c_str(), 0));
    return made;
  }
}

}  // namespace

Result<UniqueFd> make_unnamed_file(const HostPath& directory) {
  const std::string what = fmt::format("temporary file in {}", directory.string());
  TRY_ASSIGN(const UniqueFd opened,
             within(sys::open(directory.c_str(), O_PATH | O_DIRECTORY), what));
  auto made = sys::openat(opened, ".", O_TMPFILE | O_RDWR, 0600);
  const bool is_unknown =
      !made && (made.error().number() == EOPNOTSUPP || made.error().number() == EISDIR);
  return within(is_unknown ? make_and_unlink(opened) : std::move(made), what);
}

}  // namespace ocirun::pods
