#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Checks the images pagemap-N.img, which say where in memory CRIU puts the pages, in `images` and
/// in the directories of the pre-dumps: pages ascend and do not overlap, and their addresses do not
/// go round. CRIU would write the pages of a forged image over its own memory. Errors name the
/// image.
Result<void> check_page_maps(Fd images);

/// The bytes that CRIU puts into the memory of process `pid` from `address` on, zeros where it puts
/// none; nothing if a page of them is fetched only later (--lazy-pages). `size` is small. Errors: a
/// page is missing; an image is damaged.
Result<std::optional<std::string>> read_saved_memory(Fd images, int pid, std::uint64_t address,
                                                     std::size_t size);

}  // namespace ocirun::runtime
