#include "runtime/checkpoint/read_only_root.hpp"

#include <fcntl.h>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "runtime/compare/container_namespaces.hpp"
#include "runtime/compare/in_child.hpp"

namespace ocirun::runtime {

using linux::NamespaceKind;

Result<void> make_root_read_only(const linux::Procfs& procfs, int pid) {
  TRY_ASSIGN(const UniqueFd mount_namespace,
             linux::open_namespace(procfs.fd(), pid, NamespaceKind::kMount));
  auto changed = in_child("the process that changes the root", [&]() -> Result<void> {
    TRY(enter_container_namespace(mount_namespace, NamespaceKind::kMount));
    TRY_ASSIGN(const UniqueFd root, linux::sys::open("/", O_PATH | O_DIRECTORY));
    return linux::set_mount_attributes(root, {.set = MOUNT_ATTR_RDONLY, .clear = 0},
                                       linux::Recursion::kTop);
  });
  return within(std::move(changed), "/root/readonly: make the restored root read-only");
}

}  // namespace ocirun::runtime
