#pragma once

#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "criu/dump/check.hpp"
#include "criu/dump/images.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// Adds an obstacle for each kind of namespace that the document makes and the images lack, because
/// CRIU would work in the host's. Adds one also if the images have an ipc or uts namespace where
/// the document joins one by a path.
void compare_namespaces(const Images& images, const bundle::Config& config, Obstacles& obstacles);

/// Finds differences between the images and the document: namespaces, mounts, maps of the user
/// namespace. A container without CAP_SYS_ADMIN must have exactly the mounts of the document.
void compare_with_document(const Images& images, const bundle::Config& config,
                           const linux::Procfs& procfs, Obstacles& obstacles);

/// Finds needs of the images that this host does not meet: the processor's kind, types of file
/// systems, and, if the document has no pid namespace, pids that other processes of the host have.
void compare_with_host(const Images& images, const bundle::Config& config, Obstacles& obstacles);

/// Finds parts of the document that this host lacks: sources of mounts, devices, namespaces to
/// join, network devices.
void compare_document_with_host(const bundle::Config& config, const linux::Procfs& procfs,
                                Obstacles& obstacles);

}  // namespace ocirun::runtime
