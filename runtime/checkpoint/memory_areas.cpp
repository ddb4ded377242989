#include "runtime/checkpoint/memory_areas.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "linux/checkpoint/image_file.hpp"
#include "runtime/checkpoint/images.hpp"

namespace ocirun::runtime {
namespace {

using linux::ImageMessage;

// Fields of CRIU's messages.
enum MemoryField : std::uint32_t { kArea = 14, kRing = 16 };
enum AreaField : std::uint32_t {
  kStart = 1,
  kEnd = 2,
  kObject = 4,
  kFlags = 6,
  kStatus = 7,
  kDescriptor = 8,
  kFileFlags = 10
};
enum RingField : std::uint32_t { kRingAddress = 1, kRingSize = 3 };

// CRIU sets these while it restores: of its restorer, and of plugins for devices.
constexpr std::uint32_t kOwnStatus = 0xF8000000U;
constexpr std::uint32_t kKinds = kPrivateFile | kSharedFile | kSharedMemory | kPrivateMemory;
constexpr std::uint64_t kSmallestPage = 4096;
// A program of 32 bits has all of its memory below. CRIU has nothing of its own there but perhaps
// its program.
constexpr std::uint64_t kFourGibibytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kCriusProgram = std::uint64_t{64} << 20;
// Elsewhere the libraries of CRIU can cut a hole into so many pieces.
constexpr std::uint64_t kMostPieces = 128;

MemoryArea area_of(const ImageMessage& message) {
  return {.start = linux::number_in(message, kStart).value_or(0),
          .end = linux::number_in(message, kEnd).value_or(0),
          .object = linux::number_in(message, kObject).value_or(0),
          .flags = linux::word_in(message, kFlags),
          .status = linux::word_in(message, kStatus)};
}

std::unexpected<Error> refuse_area(const MemoryArea& area, std::string_view why) {
  return refuse("the memory from {:#x} to {:#x} {}", area.start, area.end, why);
}

// What the kernel rounds the size of a mapping up to.
std::optional<std::uint64_t> page_size_of(const MemoryArea& area) {
  if ((area.flags & MAP_HUGETLB) == 0) return kSmallestPage;
  const std::uint32_t bits = (area.flags >> MAP_HUGE_SHIFT) & MAP_HUGE_MASK;
  constexpr std::uint32_t kMostBits = 40;
  if (bits == 0 || bits > kMostBits) return std::nullopt;
  return std::uint64_t{1} << bits;
}

// `kind` is the one of kKinds that the area has. criu 4.2 and newer ones keep MAP_DROPPABLE, which
// Linux 6.11 has, in the place of MAP_PRIVATE.
bool is_shared_as(std::uint32_t kind, std::uint32_t flags) {
  constexpr std::uint32_t kDroppable = 0x08;
  const bool is_private = (kind & (kPrivateFile | kPrivateMemory)) != 0;
  const std::uint32_t sharing = flags & MAP_TYPE;
  if (kind == kPrivateMemory && sharing == kDroppable) return true;
  return sharing == static_cast<std::uint32_t>(is_private ? MAP_PRIVATE : MAP_SHARED);
}

Result<void> check_area(const MemoryArea& area) {
  if (area.start < kSmallestPage || area.start >= area.end)
    return refuse_area(area, "has no size, or begins at the address 0");
  if (area.is(kOwnStatus))
    return refuse_area(area, "has a status that criu gives to memory while it restores");
  const auto page = page_size_of(area);
  if (!page) return refuse_area(area, "has huge pages of a size that criu has not saved");
  if (area.start % *page != 0 || area.end % *page != 0)
    return refuse_area(area, "does not consist of whole pages");
  const std::uint32_t kind = area.status & kKinds;
  const bool needs_kind = area.is(kRegularArea) && !area.is(kSocketArea | kAioRing);
  if (std::popcount(kind) > 1 || (kind == 0 && needs_kind))
    return refuse_area(area, "is of two kinds, or of none");
  if (kind != 0 && !is_shared_as(kind, area.flags))
    return refuse_area(area, "is private by its status and shared by its flags, or the reverse");
  if (area.is(kPrivateMemory) && (area.flags & MAP_ANONYMOUS) == 0)
    return refuse_area(area, "is of no file by its status and of a file by its flags");
  if (area.is(kSystemVMemory) && kind != kSharedMemory)
    return refuse_area(area, "is of System V and not shared");
  const bool is_of_file = (kind & (kPrivateFile | kSharedFile)) != 0;
  if (area.is(kMemfdArea) && !is_of_file)
    return refuse_area(area, "is of a memfd by its status, and of no file");
  if (is_of_file && area.object > std::numeric_limits<std::uint32_t>::max())
    return refuse_area(area, "is of a file with a number that criu does not give");
  if (area.is(kVdsoArea) && area.status != (kRegularArea | kVdsoArea | kPrivateMemory))
    return refuse_area(area, "is a vDSO and something else");
  if (area.is(kGuardArea) && area.status != kGuardArea)
    return refuse_area(area, "is a guard and something else");
  const bool is_mapped = area.is(kRegularArea | kAioRing | kPrivateMemory | kPrivateFile);
  if (is_mapped && area.end > kMostAddress) return refuse_area(area, "ends above every address");
  return {};
}

// Whether `areas`, which ascend, hold all of `guard`, also where several of them touch.
bool cover(std::span<const MemoryArea> areas, const MemoryArea& guard) {
  std::uint64_t covered = guard.start;
  for (const MemoryArea& area : areas)
    if (area.start <= covered && covered < area.end) covered = area.end;
  return covered > guard.start && covered >= guard.end;
}

// Guards are no mappings: CRIU lists them after all mappings, and protects pages inside of these.
Result<void> check_order(std::span<const MemoryArea> areas) {
  const auto guards =
      std::ranges::find_if(areas, [](const auto& area) { return area.is(kGuardArea); });
  const std::span<const MemoryArea> mapped(areas.begin(), guards);
  for (std::size_t i = 1; i < mapped.size(); ++i)
    if (mapped[i].start < mapped[i - 1].end)
      return refuse_area(mapped[i], "overlaps the memory before, or is not in order");
  for (const MemoryArea& guard : std::span(guards, areas.end()))
    if (!guard.is(kGuardArea) || !cover(mapped, guard))
      return refuse_area(guard, "is no guard inside of other memory");
  return {};
}

// CRIU searches from low addresses on, and takes no notice of the last area.
Result<void> check_room(std::span<const MemoryArea> areas, std::uint64_t room) {
  std::uint64_t total = 0;
  for (const MemoryArea& area : areas)
    if (area.end <= kMostAddress) total += area.size();
  constexpr std::uint64_t kLowest = 1U << 16;  // where the kernel lets a process map memory
  std::uint64_t end = kLowest;
  for (const MemoryArea& area : areas) {
    if (area.is(kGuardArea)) break;
    const std::uint64_t hole = area.start > end ? area.start - end : 0;
    const std::uint64_t needed = area.start <= kFourGibibytes
                                     ? room + kCriusProgram
                                     : room * kMostPieces + total + kFourGibibytes;
    if (hole >= needed) return {};
    end = std::max(end, area.end);
  }
  return refuse(
      "the memory leaves no hole of {} MiB, in which criu's restorer would surely be beside it",
      room >> 20);
}

Result<void> check_ring(const ImageMessage& ring, std::span<const MemoryArea> areas) {
  const std::uint64_t address = linux::number_in(ring, kRingAddress).value_or(0);
  const std::uint64_t size = linux::number_in(ring, kRingSize).value_or(0);
  const bool has_area = std::ranges::any_of(areas, [&](const MemoryArea& area) {
    return area.is(kAioRing) && area.start == address && area.size() == size;
  });
  if (has_area) return {};
  return refuse("the ring of asynchronous input and output at {:#x} is on no memory for a ring",
                address);
}

}  // namespace

Result<std::vector<MemoryArea>> read_memory_areas(std::string_view image, std::uint64_t room) {
  TRY_ASSIGN(const auto entries, linux::parse_image(image, linux::ImageKind::kMemory));
  if (entries.empty()) return refuse("the image is empty");
  std::vector<MemoryArea> areas;
  TRY(linux::for_each_message_in(
      entries.front(), kArea, [&](const ImageMessage& message) -> Result<void> {
        areas.push_back(area_of(message));
        if ((linux::word_in(message, kFileFlags) & kMakingFlags) != 0)
          return refuse_area(areas.back(), "is of a file that criu would make or empty");
        // The descriptor -1, as protobuf writes it: CRIU opens the files of the areas itself.
        if (linux::number_in(message, kDescriptor).value_or(1) != 1)
          return refuse_area(areas.back(), "names a descriptor, which criu would map");
        return check_area(areas.back());
      }));
  if (areas.empty())
    return refuse(
        "the image lists no memory: criu 1.1 wrote the list to another one, and ocirun needs 3.11");
  TRY(check_order(areas));
  TRY(check_room(areas, room));
  TRY(linux::for_each_message_in(
      entries.front(), kRing, [&](const ImageMessage& ring) { return check_ring(ring, areas); }));
  return areas;
}

bool holds(std::span<const MemoryArea> areas, std::uint64_t address, std::uint64_t size) {
  return std::ranges::any_of(areas, [&](const MemoryArea& area) {
    return address >= area.start && address < area.end && size <= area.end - address;
  });
}

}  // namespace ocirun::runtime
