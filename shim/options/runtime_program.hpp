#pragma once

#include <string>

#include "linux/base/error.hpp"

namespace ocirun::shim {

/// The path of the runtime. `binary_name` is an absolute path, or a name that is searched for in
/// PATH. "": the `ocirun` beside this program, else the one in PATH. Errors: a relative path; the
/// name is not in PATH. An absolute path is not looked at.
Result<std::string> find_runtime(const std::string& binary_name);

/// The runtime's --root for the containers of a namespace of containerd: a directory of that name
/// in `root`, or in /run/containerd/ocirun if `root` is "".
std::string runtime_root(const std::string& root, const std::string& container_namespace);

}  // namespace ocirun::shim
