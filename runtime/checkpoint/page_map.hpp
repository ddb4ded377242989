#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Where the pages of memory are: in the images; in part with a server that sends them after the
/// restore (--lazy-pages); or all with a server that keeps them (--page-server).
enum class SavedPages { kHere, kFetchedLater, kElsewhere };

/// Checks the images pagemap-N.img, which say where in memory CRIU puts the pages, in `images` and
/// in the directories of the pre-dumps: pages ascend and do not overlap, and their addresses do not
/// go round; each is in one place. CRIU would write the pages of a forged image over its own
/// memory. Errors name the image.
Result<void> check_page_maps(Fd images, SavedPages pages);

/// The bytes that CRIU puts into the memory of process `pid` from `address` on, zeros where it puts
/// none; nothing if a page of them is fetched only later. `size` is small. The images have passed
/// check_page_maps(). Errors: a page is missing; an image is damaged.
Result<std::optional<std::string>> read_saved_memory(Fd images, int pid, std::uint64_t address,
                                                     std::size_t size);

}  // namespace ocirun::runtime
