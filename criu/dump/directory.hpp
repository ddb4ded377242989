#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

enum class TrustImages { kNo, kYes };

/// CRIU's link, in a directory of images, to the images of the pre-dump before.
inline constexpr const char* kParentLink = "parent";

/// Flags of open(2) that the kernel does not keep for an open file. With one of them in an image,
/// CRIU would make or empty a file.
inline constexpr std::uint32_t kMakingFlags = O_CREAT | O_EXCL | O_TRUNC;

/// The directory behind a symlink that the caller owns, such as the --work-path of containerd; any
/// other path unchanged. Error: a symlink of the caller leads to no directory.
Result<HostPath> follow_own_link(const HostPath& path);
/// Opens the directory that gets images or logs; makes it with mode 0700 if it is missing. Errors:
/// the last part of the path is a symlink; another user owns the directory; other users may write
/// to it.
Result<UniqueFd> open_or_make_directory(const HostPath& path, std::string_view option);
/// Opens a directory with images. Errors: the last part of the path is a symlink; another user owns
/// the directory. With TrustImages::kNo also: other users may write to the directory, or to one
/// that the links "parent" of pre-dumps lead to; such a directory has a file that belongs to
/// another user or that others may write to, or another link, a pipe or a device.
Result<UniqueFd> open_images(const HostPath& path, TrustImages trust);
/// Calls `visit` with the directory `images`, then with the directory that its link "parent" leads
/// to, and so on. Errors: those of `visit`; a link leads to no directory; more than 1000
/// directories.
Result<void> for_each_directory(Fd images, const std::function<Result<void>(Fd)>& visit);
/// The paths of the directories that for_each_directory() visits.
Result<std::vector<HostPath>> paths_of_images(Fd images);
/// Checks --parent-path, which CRIU takes relative to `images`. Errors: the path is absolute, or
/// names no directory.
Result<void> check_parent_path(Fd images, const std::string& parent);

/// Calls `visit` with each name in `images` that begins with `prefix`.
Result<void> for_each_image(Fd images, std::string_view prefix,
                            const std::function<Result<void>(const char* name)>& visit);
/// The bytes of the file `name` in `images`; nothing if it is missing. Errors name the file: it is
/// a symlink; it has more than `most` bytes (EFBIG).
Result<std::optional<std::string>> read_if_there(Fd images, const std::string& name,
                                                 std::size_t most);
}  // namespace ocirun::runtime
