#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "bundle/config/config.hpp"
#include "criu/dump/images.hpp"
#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// Checks the mounts of the images. CRIU joins their points and roots to paths of its own, from
/// which ".." leads to any file of the host. It puts what the images have of some file systems into
/// the host's: nodes into /dev, registrations into binfmt_misc. It mounts any type from any source.
/// So a new file system is of a type that showing_of() knows, or `config` mounts the same type from
/// the same source with the same paths in its options, or it is the container's root again. Errors:
/// a sentence that names the mount.
Result<void> check_image_mounts(const Images& images, const bundle::Config& config);

/// What a new mount of a file system shows. kKernels: files of the kernel (proc), which are the
/// host's unless a namespace has its own. kNew: only what is made in it (tmpfs), because each mount
/// is a file system of its own. kCgroups: a hierarchy of cgroups.
enum class Showing { kKernels, kNew, kCgroups };

struct FilesystemType {
  std::string_view name;
  Showing showing;
};

/// The file systems that a container may have mounted although config.json does not: they show no
/// file of a disk, and CRIU restores nothing of them but what lies in the new mount.
std::span<const FilesystemType> mountable_types();
/// What a file system of `type` shows; nothing if mountable_types() lacks the type.
std::optional<Showing> showing_of(std::string_view type);

}  // namespace ocirun::runtime
