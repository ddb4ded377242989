#pragma once

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// A container whose images are written while CRIU still holds its processes.
struct SavedContainer {
  const bundle::Config& config;
  const bundle::ContainerRecord& record;
  const linux::Procfs& procfs;  // the runtime's
  Fd images;
  bool has_cgroups = true;  // the images hold the container's cgroups
};

/// Compares images and processes with config.json as `restore` will. Errors: without an errno, the
/// sentence of `restore`; an error with an errno says nothing about a later restore.
Result<void> foresee_restore(const SavedContainer& saved);

}  // namespace ocirun::runtime
