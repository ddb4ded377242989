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

/// Flags of open(2) that no open file has afterwards: in an image, they would make or empty a file.
inline constexpr std::uint32_t kMakingFlags = O_CREAT | O_EXCL | O_TRUNC;

/// The directory that a symlink of the caller leads to, as containerd gives one to --work-path; any
/// other path unchanged. Error: such a symlink leads to no directory.
Result<HostPath> follow_own_link(const HostPath& path);
/// Opens the directory that gets images or logs; makes it with mode 0700 if it is missing. Errors:
/// the last part of the path is a symlink; another user owns the directory; other users may write
/// to it.
Result<UniqueFd> open_or_make_directory(const HostPath& path, std::string_view option);
/// Opens a directory with images. Errors: those of open_or_make_directory(); with TrustImages::kNo
/// also: in it, or in a directory that the links "parent" of pre-dumps lead to, there is something
/// that belongs to another user or that other users may write to, or another link, a pipe or a
/// device.
Result<UniqueFd> open_images(const HostPath& path, TrustImages trust);
/// Calls `visit` with the directory `images`, and then with those that its links "parent" lead to.
/// Errors: those of `visit`; a link leads to no directory; there are more than 1000.
Result<void> for_each_directory(Fd images, const std::function<Result<void>(Fd)>& visit);
/// The paths of these directories.
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
