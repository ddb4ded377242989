#pragma once

#include <map>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// Writes the keys of a secret or a config map as files below the empty directory `directory`: the
/// items of `volume`, or all. Errors: a key is absent, unless the volume is optional; a key that is
/// no name of a file.
Result<void> write_key_files(const Volume& volume, const std::map<std::string, std::string>& keys,
                             Fd directory);

}  // namespace ocirun::pods
