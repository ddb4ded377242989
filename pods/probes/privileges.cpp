#include "pods/probes/privileges.hpp"

#include <sys/prctl.h>

#include <cerrno>

#include "linux/process/capabilities.hpp"

namespace ocirun::pods {

Result<void> give_up_privileges() {
  TRY(linux::drop_bounding_set({}));
  TRY(linux::set_capabilities({}));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(errno, "set no_new_privs");
  return {};
}

}  // namespace ocirun::pods
