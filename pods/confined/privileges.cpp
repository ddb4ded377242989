#include "pods/confined/privileges.hpp"

#include <sys/prctl.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/process/capabilities.hpp"

namespace ocirun::pods {

Result<void> give_up_privileges() {
  TRY(linux::drop_bounding_set({}));
  TRY(linux::set_capabilities({}));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(errno, "set no_new_privs");
  return {};
}

Result<void> enter_empty_root(const std::string& place) {
  TRY(linux::sys::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
  TRY(linux::sys::mount("tmpfs", place.c_str(), "tmpfs",
                        MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k"));
  TRY(linux::sys::chdir(place.c_str()));
  TRY(linux::sys::pivot_root(".", "."));
  TRY(linux::sys::unmount(".", linux::sys::kDetach));
  return linux::sys::chdir("/");
}

}  // namespace ocirun::pods
