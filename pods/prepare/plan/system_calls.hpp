#pragma once

#include <span>
#include <string_view>

namespace ocirun::pods {

using SystemCalls = std::span<const std::string_view>;

// The system calls of Linux 5.16 on all architectures, grouped by what the default filter does with
// them. libseccomp 2.5 knows all names. A name that an architecture lacks has no effect there.

/// Calls for every container. The kernel decides about them by the files, ids and capabilities of
/// the process, and ordinary programs need them.
SystemCalls calls_for_all();

/// Calls for a container with the capability. Without the capability they fail anyway, or reach
/// farther into the kernel than a program needs.
struct CallsByCapability {
  std::string_view capability;
  SystemCalls calls;
};
/// A call may be in several groups; one of the capabilities is enough.
std::span<const CallsByCapability> calls_by_capability();

/// Calls that no container may make, whatever its capabilities. They change the whole machine,
/// their objects belong to no namespace, or their bugs have repeatedly given root.
SystemCalls refused_calls();

}  // namespace ocirun::pods
