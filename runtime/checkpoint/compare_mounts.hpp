#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// Compares the mounts of a restored init with the document. Masked files and directories are
/// covered, read-only paths and binds and a read-only root are read-only. A container that has no
/// CAP_SYS_ADMIN cannot mount: it has no mount that the document does not make. Errors: a sentence
/// that names the mount.
Result<void> compare_mounts(const bundle::Config& config, const linux::Procfs& procfs, int init);

/// The part of compare_mounts() that reads `mountinfo`, the text of /proc/PID/mountinfo: each mount
/// but that on "/" lies on or below one of `places`.
Result<void> compare_mount_table(std::span<const std::string> places, std::string_view mountinfo);

}  // namespace ocirun::runtime
