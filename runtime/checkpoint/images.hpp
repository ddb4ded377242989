#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

enum class TrustImages { kNo, kYes };

/// CRIU's link, in a directory of images, to the images of the pre-dump before; and how many
/// directories such links may lead to.
inline constexpr const char* kParentLink = "parent";
inline constexpr int kMostParents = 1000;

/// The directory that a symlink of the caller leads to, as containerd gives one to --work-path; any
/// other path unchanged. Error: such a symlink leads to no directory.
Result<HostPath> follow_own_link(const HostPath& path);
/// Opens the directory that gets images or logs; makes it with mode 0700 if it is missing. Errors:
/// the last part of the path is a symlink; another user owns the directory; other users may write
/// to it.
Result<UniqueFd> open_or_make_directory(const HostPath& path, std::string_view option);
/// Opens a directory with images. Errors: as above; with TrustImages::kNo also: in it, or in a
/// directory that the links "parent" of pre-dumps lead to, there is something that belongs to
/// another user or that other users may write to, or another link, a pipe or a device.
Result<UniqueFd> open_images(const HostPath& path, TrustImages trust);
/// The directory `images`, and those that its links "parent" lead to. Errors: a link leads to no
/// directory; there are more than kMostParents.
Result<std::vector<HostPath>> paths_of_images(Fd images);
/// Checks --parent-path, which CRIU takes relative to `images`. Errors: the path is absolute, or
/// names no directory.
Result<void> check_parent_path(Fd images, const std::string& parent);

}  // namespace ocirun::runtime
