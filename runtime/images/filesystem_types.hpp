#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace ocirun::runtime {

/// What a new mount of a file system shows. kKernels: files of the kernel, which are the host's
/// unless a namespace has its own. kNew: nothing, each mount is a file system of its own. kCgroups:
/// a hierarchy of cgroups.
enum class Showing { kKernels, kNew, kCgroups };

struct FilesystemType {
  std::string_view name;
  Showing showing;
};

/// The file systems that a container may have mounted although config.json does not: they show no
/// file of a disk, and CRIU restores nothing of them but what lies in the new mount.
std::span<const FilesystemType> mountable_types();
/// Nothing for all other types.
std::optional<Showing> showing_of(std::string_view type);

}  // namespace ocirun::runtime
