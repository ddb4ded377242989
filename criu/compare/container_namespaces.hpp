#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/id_map.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

/// The name of a process's namespace, as in "net:[4026531840]". "" where the kernel has no
/// namespaces of this kind.
Result<std::string> namespace_link(const linux::Procfs& procfs, int pid, linux::NamespaceKind kind);
/// Enters a namespace of the container. Errors: those of setns(2).
Result<void> enter_container_namespace(Fd file, linux::NamespaceKind kind);
/// Whether `link` names the pinned namespace.
Result<bool> names(std::string_view link, const linux::PinnedNamespace& pinned);

/// Whether CRIU itself enters a namespace of this kind that the container has joined: true for ipc
/// and uts. CRIU then takes the namespace for its own, and neither saves nor restores its content.
/// The content belongs to others as well, and images may be forged.
bool works_inside(linux::NamespaceKind kind);

/// Runs `work` in a child with a single thread, so that `work` may enter namespaces. The child dies
/// with the caller. Errors: those of linux::call_in_child().
Result<void> in_child(std::string_view doing, const std::function<Result<void>()>& work);

/// Whether two maps map the same ids. The kernel sorts the lines of a map that has more than five.
bool is_same_map(const linux::IdMap& a, const linux::IdMap& b);

/// Compares the maps of the user namespace of process `init` with those of the document, if the
/// document asks for a new user namespace. Maps are written once, and do not change later. Errors:
/// a sentence that names the map; setgroups(2) is denied in the namespace.
Result<void> compare_id_maps(const bundle::Config& config, const linux::Procfs& procfs, int init);

}  // namespace ocirun::runtime
