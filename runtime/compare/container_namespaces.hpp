#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

/// The name of a process's namespace, as in "net:[4026531840]". "" where the kernel has no such
/// namespaces.
Result<std::string> namespace_link(const linux::Procfs& procfs, int pid, linux::NamespaceKind kind);
/// Enters a namespace of the container. Errors: those of setns(2).
Result<void> enter_container_namespace(Fd file, linux::NamespaceKind kind);
/// Whether `link` names the pinned namespace.
Result<bool> names(std::string_view link, const linux::PinnedNamespace& pinned);

/// Whether CRIU itself runs in a joined namespace of that kind: ipc and uts. The container's is no
/// other than CRIU's then, so CRIU neither saves nor restores what is in it: that belongs to others
/// as well, and images may be forged.
bool works_inside(linux::NamespaceKind kind);

}  // namespace ocirun::runtime
