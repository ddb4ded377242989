#pragma once

#include <map>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/documents/model/pod.hpp"
#include "pods/documents/workload.hpp"
#include "pods/prepare/given.hpp"
#include "pods/prepare/plan/bundle.hpp"

namespace ocirun::pods {

/// Writes the config files of a container (OAM-16) below the directory of the container, whose path
/// is `path`. Returns the read-only binds that show them in the container.
Result<std::vector<BoundPath>> write_config_files(const Container& container, const Given& given,
                                                  Fd directory, const std::string& path);

/// Writes keys of a secret or a config map as files below the empty directory `directory`: the
/// items of `volume`, or all keys if it has no items. Items of one key and one mode are one file
/// with several names. Adds the bytes of the files to `copied`. Errors: a key is absent and the
/// volume is not optional; a key cannot be the name of a file; `copied` is above kMostCopied.
Result<void> write_key_files(const Volume& volume, const std::map<std::string, std::string>& keys,
                             Fd directory, std::size_t& copied);

}  // namespace ocirun::pods
