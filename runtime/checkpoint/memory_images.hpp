#pragma once

#include <span>

#include "linux/base/error.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/checkpoint/inventory.hpp"
#include "runtime/checkpoint/page_map.hpp"

namespace ocirun::runtime {

/// Checks the images of memory: with forged ones CRIU would overwrite its own code, which runs as
/// root of the host before anything can be compared. Beside what check_page_maps(),
/// read_memory_areas() and check_vdso() check, processes agree on the size of pages of the memory
/// that they share, and the kernel writes a thread's restartable sequences (rseq) to memory of the
/// process alone; before Linux 6.15 such a sequence must not be under way. `kernel` is the running
/// one. Errors name the image.
Result<void> check_memory_images(Fd images, std::span<const ImageProcess> processes,
                                 SavedPages pages, linux::KernelVersion kernel);

}  // namespace ocirun::runtime
