#pragma once

#include <span>
#include <string_view>

namespace ocirun::pods {

using SystemCalls = std::span<const std::string_view>;

// The system calls of Linux 5.16 on all architectures, sorted by what the default filter of a
// container does with them. libseccomp 2.5 knows all of the names. A name that an architecture
// lacks has no effect there.

/// Every container may make these calls: the kernel judges them by the process's own files, ids and
/// capabilities, and ordinary programs need them.
SystemCalls calls_for_all();

/// Calls that fail in a container without one of the capabilities anyway, or that reach farther
/// into the kernel than a program without the capability needs.
struct CallsByCapability {
  std::string_view capability;
  SystemCalls calls;
};
/// A call may be in several of the groups: one of the capabilities is enough.
std::span<const CallsByCapability> calls_by_capability();

/// Calls that no container may make, whatever it is allowed: they change the whole machine, their
/// objects belong to no namespace, or their faults have again and again been a way to root.
SystemCalls refused_calls();

}  // namespace ocirun::pods
