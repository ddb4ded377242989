#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// What a process and its children may still do (landlock(7)). An absent list restricts nothing of
/// its kind; an empty list allows nothing.
struct LandlockRules {
  std::optional<std::vector<std::string>> readable;    // paths, with all below: read and execute
  std::optional<std::vector<std::string>> writable;    // paths, with all below: everything
  std::optional<std::vector<std::uint16_t>> connects;  // TCP ports of connect(2)
  std::optional<std::vector<std::uint16_t>> binds;     // TCP ports of bind(2)
  bool scopes_signals = false;                         // no signals to processes outside
  bool scopes_sockets = false;                         // no abstract UNIX sockets of others

  /// If one of both lists of paths is given, everything else in the file system is refused.
  bool restricts_files() const { return readable || writable; }
  bool restricts_ports() const { return connects || binds; }
};

/// The version of Landlock's interface that the kernel has; 0: none, or switched off.
int landlock_version();

/// Errors: the kernel lacks what the rules need, with the version of Linux that has it.
Result<void> check_landlock(const LandlockRules& rules);

/// Restricts the calling process for good. Paths are those of the caller's root. Needs no_new_privs
/// or CAP_SYS_ADMIN. Errors: a path that cannot be opened; those of check_landlock().
Result<void> restrict_by_landlock(const LandlockRules& rules);

}  // namespace ocirun::linux
