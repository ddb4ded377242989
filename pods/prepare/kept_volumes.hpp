#pragma once

#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::pods {

/// Copies the directory that an image has at `path` below `root` into the empty directory `volume`,
/// with its owner and mode. Copies nothing if the image has none.
Result<void> copy_from_image(const linux::SafeDir& root, const std::string& path, Fd volume);

// The volumes of `--volume NAME` without a directory: DATA/volumes/NAME. They stay when their pods
// are deleted, and pods with a volume of the same name share it. Beside a volume that no container
// has mounted yet lies the file ".NAME.new".

/// Checks the name of such a volume: 1 to 63 letters, digits, "-", "_" and ".", which begin and end
/// with a letter or digit.
Result<void> check_volume_name(const std::string& name);

/// The path of a volume in the data directory `data`.
HostPath kept_volume_path(const HostPath& data, const std::string& name);

/// Opens the volume at `path`, and makes it if it is missing.
Result<UniqueFd> open_kept_volume(const HostPath& path);

/// Copies what `root` has at `destination` into a volume that no container has mounted yet, with
/// the owner and mode of that directory, as engines do. With "" as the destination the volume stays
/// empty. Waits while another process fills the volume.
Result<void> fill_kept_volume(const HostPath& path, const linux::SafeDir& root,
                              const std::string& destination);

/// Gives the directory of a volume to a group, whose members can then write to it. Changes nothing
/// in the directory.
Result<void> give_to_group(const HostPath& path, Gid group);

/// The names of all volumes, sorted.
Result<std::vector<std::string>> kept_volumes(const HostPath& data);
/// Removes a volume and everything in it. Errors: ENOENT: there is no such volume; a pod that runs
/// uses the volume.
Result<void> remove_kept_volume(const HostPath& data, const std::string& name);

}  // namespace ocirun::pods
