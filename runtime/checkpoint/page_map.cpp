#include "runtime/checkpoint/page_map.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string_view>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/checkpoint/image_file.hpp"
#include "runtime/checkpoint/images.hpp"
#include "runtime/checkpoint/memory_areas.hpp"

namespace ocirun::runtime {
namespace {

using linux::ImageMessage;

// Fields of CRIU's messages. The first entry of an image says which file has the pages.
enum HeadField : std::uint32_t { kPagesFile = 1 };
enum RangeField : std::uint32_t {
  kAddress = 1,
  kPageCount = 2,
  kInParent = 3,
  kFlags = 4,
  kNewPageCount = 5  // since criu 4.2, which writes 0 to kPageCount
};
// Bits of kFlags.
constexpr std::uint32_t kParent = 1, kLazy = 2, kPresent = 4;

// Memory of which each second page has changed since the pre-dump has many ranges.
constexpr std::size_t kMostPageMapBytes = std::size_t{512} << 20;
constexpr const char* kSharedPrefix = "pagemap-shmem-";

struct PageRange {
  std::uint64_t start = 0, end = 0;  // addresses
  std::uint64_t offset = 0;          // in the file with the pages, if they are there
  std::uint32_t where = kPresent;    // kParent, kLazy, kPresent, or kLazy | kPresent
  bool has_new_count = false;

  bool is(std::uint32_t bit) const { return (where & bit) != 0; }
  std::uint64_t size() const { return end - start; }
};

std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

// CRIU compares the size of pages of shared memory in 32 bits where the size of a page is no
// constant for the compiler.
std::uint64_t most_bytes_of(bool is_shared) {
#ifdef __x86_64__
  constexpr bool kHasConstantPage = true;
#else
  constexpr bool kHasConstantPage = false;
#endif
  return is_shared && !kHasConstantPage ? std::uint64_t{0xFFFFFFFF} : kMostAddress;
}

// As CRIU reads these fields.
std::uint32_t where_of(const ImageMessage& message) {
  const auto flags = linux::number_in(message, kFlags);
  const bool is_in_parent = linux::number_in(message, kInParent).value_or(0) != 0;
  if (is_in_parent) return static_cast<std::uint32_t>(flags.value_or(0)) | kParent;
  return flags ? static_cast<std::uint32_t>(*flags) : kPresent;
}

Result<PageRange> range_of(const ImageMessage& message, std::uint64_t most) {
  constexpr std::uint64_t kMostPages = 0x7FFFFFFF;  // CRIU calculates with an int
  const std::uint64_t start = linux::number_in(message, kAddress).value_or(0);
  const auto new_count = linux::number_in(message, kNewPageCount);
  const std::uint64_t count = new_count.value_or(linux::word_in(message, kPageCount));
  if (start % page_size() != 0 || start >= kMostAddress || count == 0 || count > kMostPages ||
      count > most / page_size())
    return refuse("{} pages at {:#x}: no memory has such pages", count, start);
  if (new_count && linux::word_in(message, kPageCount) != 0)
    return refuse("the pages at {:#x} have two numbers of pages", start);
  return PageRange{.start = start,
                   .end = start + count * page_size(),
                   .where = where_of(message),
                   .has_new_count = new_count.has_value()};
}

Result<void> check_place(const PageRange& range, SavedPages pages) {
  switch (range.where) {
    case kParent:
    case kPresent:
    case kLazy | kPresent:
      return {};
    case kLazy:
      if (pages == SavedPages::kFetchedLater) return {};
      return fail(
          ENODATA,
          "the pages at {:#x} are not in the images: give --lazy-pages, with which they are "
          "fetched",
          range.start);
    default:
      return refuse("the pages at {:#x} are in several places, or in none", range.start);
  }
}

/// Calls `head` and `act` with what the image has. The ranges are checked.
Result<void> for_each_range(std::string_view image, bool is_shared, SavedPages pages,
                            const std::function<void(std::uint32_t pages_file)>& head,
                            const std::function<void(const PageRange&)>& act) {
  bool has_head = false;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::optional<bool> has_new_count;
  return linux::for_each_entry_in(
      image, linux::ImageKind::kPageMap, [&](const ImageMessage& message) -> Result<void> {
        if (!has_head) {
          has_head = true;
          head(linux::word_in(message, kPagesFile));
          return {};
        }
        TRY_ASSIGN(PageRange range, range_of(message, most_bytes_of(is_shared)));
        if (range.start < end)
          return refuse("the pages at {:#x} overlap those before, or are not in order",
                        range.start);
        TRY(check_place(range, pages));
        if (has_new_count.value_or(range.has_new_count) != range.has_new_count)
          return refuse("the pages at {:#x} are counted in another field than others", range.start);
        has_new_count = range.has_new_count;
        end = range.end;
        range.offset = offset;
        if (range.is(kPresent)) offset += range.size();
        act(range);
        return {};
      });
}

/// A part of the memory that is read.
struct Part {
  std::uint64_t address = 0;
  char* bytes = nullptr;
  std::size_t size = 0;
};

class MemoryReader {
 public:
  MemoryReader(int pid, std::uint64_t address, std::string& bytes)
      : name_(fmt::format("pagemap-{}.img", pid)),
        parts_{{.address = address, .bytes = bytes.data(), .size = bytes.size()}} {}

  /// Reads what `directory` has of the parts; the other parts are in the directory of the pre-dump.
  Result<void> read(Fd directory) {
    if (parts_.empty()) return {};
    TRY_ASSIGN(const auto image, read_if_there(directory, name_, kMostPageMapBytes));
    if (!image) return parts_are_missing();
    std::uint32_t pages_file = 0;
    std::vector<PageRange> ranges;
    TRY(within(for_each_range(
                   *image, false, SavedPages::kFetchedLater,
                   [&](std::uint32_t file) { pages_file = file; },
                   [&](const PageRange& range) {
                     if (is_wanted(range)) ranges.push_back(range);
                   }),
               name_));
    return read_ranges(directory, pages_file, ranges);
  }

  Result<void> finish() const { return parts_.empty() ? Result<void>{} : parts_are_missing(); }
  bool has_lazy_pages() const { return has_lazy_pages_; }

 private:
  static bool overlaps(const Part& part, const PageRange& range) {
    return range.start < part.address + part.size && part.address < range.end;
  }
  bool is_wanted(const PageRange& range) const {
    return std::ranges::any_of(parts_, [&](const Part& part) { return overlaps(part, range); });
  }
  Result<void> parts_are_missing() const {
    return fail(ENOENT, "the pages at {:#x} are neither in these images nor in those of a pre-dump",
                parts_.front().address);
  }

  Result<void> read_ranges(Fd directory, std::uint32_t pages_file,
                           const std::vector<PageRange>& ranges) {
    const std::string name = fmt::format("pages-{}.img", pages_file);
    std::vector<Part> later;
    for (const Part& part : parts_) {
      std::size_t found = 0;
      for (const PageRange& range : ranges) {
        if (!overlaps(part, range)) continue;
        const Part piece = intersect(part, range);
        found += piece.size;
        if (range.is(kParent))
          later.push_back(piece);
        else if (range.is(kPresent))
          TRY(within(read_piece(directory, name, range, piece), name));
        else
          has_lazy_pages_ = true;
      }
      if (is_in_pre_dump_ && found < part.size) return parts_are_missing();
    }
    parts_ = std::move(later);
    is_in_pre_dump_ = true;
    return {};
  }

  static Part intersect(const Part& part, const PageRange& range) {
    const std::uint64_t start = std::max(part.address, range.start);
    const std::uint64_t end = std::min(part.address + part.size, range.end);
    return {.address = start,
            .bytes = part.bytes + (start - part.address),
            .size = static_cast<std::size_t>(end - start)};
  }

  static Result<void> read_piece(Fd directory, const std::string& name, const PageRange& range,
                                 const Part& piece) {
    TRY_ASSIGN(const UniqueFd file,
               linux::sys::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW));
    const std::uint64_t offset = range.offset + (piece.address - range.start);
    const ssize_t size = ::pread(file.get(), piece.bytes, piece.size, static_cast<off_t>(offset));
    if (size < 0) return linux::sys::last_error("read");
    if (static_cast<std::size_t>(size) == piece.size) return {};
    return fail(EBADMSG, "the image ends before the page at {:#x}", piece.address);
  }

  std::string name_;
  std::vector<Part> parts_;
  bool is_in_pre_dump_ = false;
  bool has_lazy_pages_ = false;
};

}  // namespace

Result<void> check_page_maps(Fd images, SavedPages pages) {
  return for_each_directory(images, [&](Fd directory) {
    return for_each_image(directory, "pagemap-", [&](const char* name) -> Result<void> {
      TRY_ASSIGN(const auto image, read_if_there(directory, name, kMostPageMapBytes));
      const bool is_shared = std::string_view(name).starts_with(kSharedPrefix);
      return within(
          for_each_range(
              image.value_or(""), is_shared, pages, [](std::uint32_t) {}, [](const PageRange&) {}),
          name);
    });
  });
}

Result<std::optional<std::string>> read_saved_memory(Fd images, int pid, std::uint64_t address,
                                                     std::size_t size) {
  std::string bytes(size, '\0');
  MemoryReader reader(pid, address, bytes);
  TRY(for_each_directory(images, [&](Fd directory) { return reader.read(directory); }));
  TRY(reader.finish());
  if (reader.has_lazy_pages()) return std::nullopt;
  return bytes;
}

}  // namespace ocirun::runtime
