#include "runtime/checkpoint/memory_images.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/checkpoint/image_file.hpp"
#include "runtime/checkpoint/images.hpp"
#include "runtime/checkpoint/memory_areas.hpp"
#include "runtime/checkpoint/page_map.hpp"
#include "runtime/checkpoint/vdso_image.hpp"

namespace ocirun::runtime {
namespace {

using linux::ImageMessage;

// Fields of CRIU's messages.
enum CoreField : std::uint32_t { kThread = 5 };
enum ThreadField : std::uint32_t { kSequences = 15 };
enum SequencesField : std::uint32_t { kAddress = 1, kSize = 2 };
enum FileField : std::uint32_t { kFileId = 2, kMemfdFile = 20 };
enum MemfdFileField : std::uint32_t { kInodeOfFile = 5 };
enum MemfdField : std::uint32_t { kInode = 7, kHugePages = 8 };

// What flags say of the size of pages: 0 for pages of the usual size. `huge` is MAP_HUGETLB or
// MFD_HUGETLB.
std::uint32_t pages_of(std::uint32_t flags, std::uint32_t huge) {
  constexpr std::uint32_t kSize = std::uint32_t{MAP_HUGE_MASK} << MAP_HUGE_SHIFT;
  return (flags & huge) == 0 ? 0 : 1 | (flags & kSize);
}

// Images with content of files, pipes and memory.
constexpr std::string_view kContents[] = {"pages-",     "ghost-file-", "tmpfs-",
                                          "pipes-data", "fifo-data",   "sk-queues",
                                          "ipcns-",     "tty-data",    "bpfmap-data"};

/// The bytes that CRIU's restorer needs at most: its code, a stack for each thread, and tables of
/// what the images have.
Result<std::uint64_t> room_for_restorer(Fd images) {
  constexpr std::uint64_t kCode = std::uint64_t{64} << 20;
  constexpr std::uint64_t kThread = std::uint64_t{256} << 10;
  constexpr std::uint64_t kTablesPerByte = 8;
  std::uint64_t room = kCode;
  TRY(for_each_image(images, "", [&](const char* image) -> Result<void> {
    const std::string_view name(image);
    const bool has_content =
        std::ranges::any_of(kContents, [&](auto prefix) { return name.starts_with(prefix); });
    if (has_content || !name.ends_with(".img")) return {};
    TRY_ASSIGN(const struct stat status, linux::sys::fstatat(images, image));
    room += static_cast<std::uint64_t>(status.st_size) * kTablesPerByte;
    if (name.starts_with("core-")) room += kThread;
    return {};
  }));
  return room;
}

/// The pages_of() memfds, by the number of the file.
using PagesOfFiles = std::map<std::uint64_t, std::uint32_t>;

Result<PagesOfFiles> read_memfds(Fd images) {
  constexpr std::uint64_t kMostInode = 0x7FFFFFFF;  // CRIU compares numbers of two types
  std::map<std::uint64_t, std::uint32_t> inodes;
  TRY(for_each_entry_of(
      images, "memfd.img", linux::ImageKind::kMemfds,
      [&](const ImageMessage& memfd) -> Result<void> {
        const std::uint64_t inode = linux::number_in(memfd, kInode).value_or(0);
        const std::uint32_t pages = pages_of(linux::word_in(memfd, kHugePages), MFD_HUGETLB);
        if (inode > kMostInode || !inodes.emplace(inode, pages).second)
          return refuse("the number {} of a memfd is too large or has been used", inode);
        return {};
      }));
  PagesOfFiles files;
  TRY(for_each_entry_of(images, "files.img", linux::ImageKind::kFiles,
                        [&](const ImageMessage& entry) -> Result<void> {
                          TRY_ASSIGN(const ImageMessage file, linux::message_in(entry, kMemfdFile));
                          if (file.empty()) return {};
                          const auto inode = inodes.find(linux::word_in(file, kInodeOfFile));
                          if (inode == inodes.end())
                            return fail(ENOENT, "a memfd is missing in memfd.img");
                          files.insert_or_assign(linux::word_in(entry, kFileId), inode->second);
                          return {};
                        }));
  return files;
}

// The private memory without a file, of which the images of the pages have the whole content.
std::vector<MemoryArea> memory_alone(std::span<const MemoryArea> areas) {
  std::vector<MemoryArea> alone;
  std::ranges::copy_if(areas, std::back_inserter(alone), [](const MemoryArea& area) {
    constexpr std::uint32_t kMayBe = kStackArea | kHeapArea;
    return (area.status & ~kMayBe) == (kRegularArea | kPrivateMemory);
  });
  return alone;
}

/// The walk over the images.
class Check {
 public:
  Check(Fd images, linux::KernelVersion kernel, std::uint64_t room, PagesOfFiles memfds)
      : images_(images), kernel_(kernel), room_(room), memfds_(std::move(memfds)) {}

  Result<void> run(const ImageProcess& process) {
    const std::string name = fmt::format("mm-{}.img", process.pid);
    TRY_ASSIGN(const auto image, read_if_there(images_, name, linux::kMostImageBytes));
    std::vector<MemoryArea> areas;  // none of a zombie
    if (image) {
      TRY_ASSIGN(areas, within(read_memory_areas(*image, room_), name));
      TRY(within(check_sharing(areas), name));
      TRY(within(check_vdsos(process.pid, areas), name));
    }
    const std::vector<MemoryArea> alone = memory_alone(areas);
    for (const int thread : process.threads)
      TRY(within(check_sequences(process.pid, thread, alone), fmt::format("core-{}.img", thread)));
    return {};
  }

 private:
  // The kernel rounds a mapping up to the size of the pages of what is mapped. CRIU makes shared
  // memory with the flags of the first process, and maps it with those of each.
  Result<void> check_sharing(const std::vector<MemoryArea>& areas) {
    for (const MemoryArea& area : areas) {
      const std::uint32_t mapped = pages_of(area.flags, MAP_HUGETLB);
      std::uint32_t made = mapped;
      if (area.is(kMemfdArea)) {
        const auto memfd = memfds_.find(area.object);
        if (memfd == memfds_.end())
          return refuse("the memory at {:#x} is of a memfd that the images do not have",
                        area.start);
        made = memfd->second;
      } else if (area.is(kSharedMemory) && !area.is(kSystemVMemory)) {
        made = shared_.try_emplace(area.object, mapped).first->second;
      }
      if (made != mapped)
        return refuse("the shared memory at {:#x} has pages of two sizes", area.start);
    }
    return {};
  }

  Result<void> check_vdsos(int pid, const std::vector<MemoryArea>& areas) const {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
    for (const MemoryArea& area : areas) {
      if (!area.is(kVdsoArea)) continue;
      if (area.size() > kMost) return refuse("the vDSO of the images has {} bytes", area.size());
      TRY_ASSIGN(const auto bytes, read_saved_memory(images_, pid, area.start,
                                                     static_cast<std::size_t>(area.size())));
      if (!bytes) return fail(ENOENT, "the vDSO is not in the images");
      TRY(check_vdso(*bytes));
    }
    return {};
  }

  // The kernel would go on at an address that the sequence names as soon as it interrupts CRIU's
  // restorer. Since Linux 6.15 it forgets a sequence when the thread asks for restartable ones.
  Result<void> check_sequences(int pid, int thread, const std::vector<MemoryArea>& alone) const {
    constexpr linux::KernelVersion kForgets{.major = 6, .minor = 15};
    constexpr std::uint64_t kSequenceAt = 8;
    constexpr std::uint64_t kSmallest = 32;
    TRY_ASSIGN(const auto image,
               read_if_there(images_, fmt::format("core-{}.img", thread), linux::kMostImageBytes));
    if (!image) return {};
    TRY_ASSIGN(const auto entries, linux::parse_image(*image, linux::ImageKind::kCore));
    if (entries.empty()) return {};
    TRY_ASSIGN(const ImageMessage common, linux::message_in(entries.front(), kThread));
    TRY_ASSIGN(const ImageMessage sequences, linux::message_in(common, kSequences));
    const std::uint64_t address = linux::number_in(sequences, kAddress).value_or(0);
    if (address == 0) return {};
    const std::uint64_t size = std::max<std::uint64_t>(linux::word_in(sequences, kSize), kSmallest);
    if (!holds(alone, address, size))
      return refuse(
          "the restartable sequences (rseq) at {:#x} are in no memory that is the process's alone",
          address);
    if (kernel_ >= kForgets) return {};
    TRY_ASSIGN(const auto sequence,
               read_saved_memory(images_, pid, address + kSequenceAt, sizeof(std::uint64_t)));
    // Pages that are fetched later cannot be looked at: SECURITY.md tells.
    if (!sequence || std::ranges::all_of(*sequence, [](char byte) { return byte == 0; })) return {};
    return refuse(
        "a restartable sequence (rseq) is under way: on a kernel older than Linux 6.15 it could "
        "run code of the images as root of the host; another checkpoint may have none");
  }

  Fd images_;
  linux::KernelVersion kernel_;
  std::uint64_t room_;
  PagesOfFiles memfds_;
  std::map<std::uint64_t, std::uint32_t> shared_;  // pages_of() shared memory
};

}  // namespace

Result<void> check_memory_images(Fd images, std::span<const ImageProcess> processes,
                                 SavedPages pages, linux::KernelVersion kernel) {
  TRY(check_page_maps(images, pages));
  TRY_ASSIGN(const std::uint64_t room, room_for_restorer(images));
  TRY_ASSIGN(PagesOfFiles memfds, read_memfds(images));
  Check check(images, kernel, room, std::move(memfds));
  for (const ImageProcess& process : processes) TRY(check.run(process));
  return {};
}

}  // namespace ocirun::runtime
