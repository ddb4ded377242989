#pragma once

#include <optional>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "runtime/base/log.hpp"
#include "runtime/parent/create_request.hpp"

namespace ocirun::runtime {

/// The things found on the host for a container before any part of the container is made.
struct Preflight {
  UniqueFd console;                 // connected, when a console socket was given
  std::optional<HostPath> resctrl;  // its mount point, when intelRdt is asked for
};

/// Checks whether this host can run the container. Errors: an ordinary user's new namespaces
/// without a user namespace; a terminal without a console socket, or a console socket without a
/// terminal (P-2); a rootfs that is no directory (T-2); no resctrl (I-1); an LSM that this host
/// lacks (P-9, P-16); a pid file in a missing directory. Warns of capabilities that cannot be
/// granted (P-10), of a mount label without SELinux (L-34), and of a mount's destination that
/// begins with the path of the rootfs (M-2).
Result<Preflight> check_host(const bundle::Config& config, const CreateRequest& request,
                             const Log& log);

/// Warns of the capabilities that `process` cannot be granted (P-10). Leaves out the capabilities
/// of `told`, an earlier process of the container, for which the warning was given already. Where a
/// process has no inheritable capabilities, its ambient ones go to the debug log (P-12).
Result<void> warn_of_capabilities(const bundle::Process& process,
                                  const linux::NamespaceSet& namespaces, const Log& log,
                                  const bundle::Process* told = nullptr);

}  // namespace ocirun::runtime
