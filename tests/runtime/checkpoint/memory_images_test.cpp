#include "runtime/checkpoint/memory_images.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/linux/mounts/scene.hpp"
#include "tests/runtime/checkpoint/memory_text.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
using linux::ImageKind;

namespace {

constexpr std::uint64_t kAt = 0x7F0000000000;
constexpr std::uint32_t kHuge2MiB = kHuge | 21U << 26, kHuge1GiB = kHuge | 30U << 26;

/// The images of a process 1 with the threads 1 and 2, and of a zombie, 3.
struct Images {
  Images() {
    areas(1, "");
    thread(2, 0x555500000100);
  }
  void write(const std::string& name, ImageKind kind,
             std::initializer_list<std::string> entries) const {
    scratch.file(name, image(kind, entries), 0600);
  }
  /// The usual memory, and more.
  void areas(int pid, const std::string& more) const {
    write(fmt::format("mm-{}.img", pid), ImageKind::kMemory,
          {memory(0x555500000000, 0x555500010000) + more + memory(0x7FFC00000000, 0x7FFC00020000)});
  }
  /// The restartable sequences of a thread.
  void thread(int tid, std::uint64_t address, std::uint32_t size = 32) const {
    write(fmt::format("core-{}.img", tid), ImageKind::kCore,
          {number(1, 1) + text(5, text(15, number(1, address) + number(2, size)))});
  }
  /// A page at `address` that has this byte at offset 8 of `address`.
  void sequence(std::uint64_t address, char byte, std::uint32_t flags = 4) const {
    write("pagemap-1.img", ImageKind::kPageMap,
          {number(1, 9), pages(address & ~0xFFFULL, 1, flags)});
    std::string page(4096, '\0');
    page[(address & 0xFFFU) + 8] = byte;
    scratch.file("pages-9.img", page, 0600);
  }
  std::string refusal(linux::KernelVersion kernel = {.major = 6, .minor = 15},
                      SavedPages pages = SavedPages::kFetchedLater) const {
    const UniqueFd directory = scratch.open();
    const auto checked = check_memory_images(directory, processes, pages, kernel);
    return checked ? "" : checked.error().message();
  }

  std::vector<ImageProcess> processes{{.pid = 1, .threads = {1, 2}}, {.pid = 3, .threads = {3}}};
  Scratch scratch;
};

/// Shared memory with the number 5.
std::string shared(std::uint32_t pages) {
  return area(kAt, kAt + (1U << 30), kRegularArea | kSharedMemory, kShared | kAnonymous | pages, 5);
}
std::string memfd(std::uint32_t pages) {
  return area(kAt, kAt + (1U << 21), kRegularArea | kSharedFile | kMemfdArea, kShared | pages, 8);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_images)

BOOST_AUTO_TEST_CASE(usual_images_pass) {
  const Images images;
  BOOST_TEST(images.refusal() == "");
  images.areas(3, shared(0));
  BOOST_TEST(images.refusal() == "");
}

BOOST_AUTO_TEST_CASE(areas_and_pages_are_checked) {
  const Images images;
  images.areas(3, memory(kAt, kAt + 5));
  check_text(images.refusal(), "mm-3.img: the memory from 0x7f0000000000");
  images.areas(3, "");
  images.write("pagemap-shmem-4.img", ImageKind::kPageMap, {number(1, 9), pages(5, 1)});
  check_text(images.refusal(), "pagemap-shmem-4.img: 1 pages at 0x5: no memory has such pages");
}

BOOST_AUTO_TEST_CASE(processes_agree_on_the_pages_of_shared_memory) {
  const Images images;
  images.areas(1, shared(kHuge1GiB));
  BOOST_TEST(images.refusal() == "");
  for (const std::uint32_t other : {0U, kHuge2MiB}) {
    images.areas(3, shared(other));
    check_text(images.refusal(), "mm-3.img: the shared memory at 0x7f0000000000 has pages of two");
  }
}

BOOST_AUTO_TEST_CASE(a_mapping_of_a_memfd_has_the_pages_of_the_memfd) {
  const Images images;
  constexpr std::uint32_t kMemfdHuge = 4 | 21U << 26;
  images.write("files.img", ImageKind::kFiles,
               {number(1, 17) + number(2, 8) + text(20, number(1, 8) + number(5, 77))});
  images.areas(1, memfd(0));
  check_text(images.refusal(), "files.img: a memfd is missing in memfd.img");
  images.write("memfd.img", ImageKind::kMemfds, {number(7, 77)});
  BOOST_TEST(images.refusal() == "");
  images.write("memfd.img", ImageKind::kMemfds, {number(7, 77), number(7, 77) + number(8, 4)});
  check_text(images.refusal(), "memfd.img: the number 77 of a memfd is too large or has been used");
  images.write("memfd.img", ImageKind::kMemfds, {number(7, ~std::uint64_t{0})});
  check_text(images.refusal(), "of a memfd is too large or has been used");
  images.write("memfd.img", ImageKind::kMemfds, {number(7, 77) + number(8, kMemfdHuge)});
  check_text(images.refusal(), "mm-1.img: the shared memory at 0x7f0000000000 has pages of two");
  images.write("memfd.img", ImageKind::kMemfds, {number(7, 77) + number(8, 4)});
  check_text(images.refusal(), "has pages of two sizes");
  images.areas(1, memfd(kHuge2MiB));
  check_text(images.refusal(), "has pages of two sizes");
  images.write("memfd.img", ImageKind::kMemfds, {number(7, 77) + number(8, kMemfdHuge)});
  BOOST_TEST(images.refusal() == "");
}

BOOST_AUTO_TEST_CASE(restartable_sequences_are_in_memory_of_the_process) {
  const Images images;
  for (const std::uint64_t address :
       {std::uint64_t{0x10000}, std::uint64_t{0x55550000FFF0}, std::uint64_t{0x7FFC00020000}}) {
    images.thread(2, address);
    check_text(images.refusal(), "core-2.img: the restartable sequences (rseq) at");
  }
  images.thread(2, 0x55550000FFE0);
  BOOST_TEST(images.refusal() == "");
  images.thread(2, 0x55550000FFE0, 64);
  check_text(images.refusal(), "core-2.img: the restartable sequences (rseq) at");
  images.thread(2, 0);
  images.thread(3, 0x555500000100);  // the zombie has no memory
  check_text(images.refusal(), "core-3.img: the restartable sequences (rseq) at");
}

BOOST_AUTO_TEST_CASE(restartable_sequences_are_in_memory_of_which_the_images_have_the_content) {
  const Images images;
  images.write("files.img", ImageKind::kFiles,
               {number(1, 18) + number(2, 8) + text(20, number(1, 8) + number(5, 77))});
  images.write("memfd.img", ImageKind::kMemfds, {number(7, 77)});
  images.thread(2, kAt + 0x100);
  for (const std::string& other :
       {shared(0), memfd(0), area(kAt, kAt + 0x1000, kRegularArea | kPrivateFile, kPrivate),
        area(kAt, kAt + 0x1000, kAioRing, kShared)}) {
    images.areas(1, other);
    check_text(images.refusal(), "core-2.img: the restartable sequences (rseq) at 0x7f0000000100");
  }
  images.areas(
      1, area(kAt, kAt + 0x1000, kRegularArea | kPrivateMemory | kHeapArea, kPrivate | kAnonymous));
  BOOST_TEST(images.refusal() == "");
}

BOOST_AUTO_TEST_CASE(before_linux_6_15_no_sequence_is_under_way) {
  constexpr linux::KernelVersion kOld{.major = 6, .minor = 14};
  const Images images;
  images.sequence(0x555500000100, '\0');
  BOOST_TEST(images.refusal(kOld) == "");
  images.sequence(0x555500000100, '\1');
  check_text(images.refusal(kOld), "core-2.img: a restartable sequence (rseq) is under way");
  BOOST_TEST(images.refusal() == "");
  images.sequence(0x555500000100, '\1', 2);  // fetched later
  BOOST_TEST(images.refusal(kOld) == "");
}

BOOST_AUTO_TEST_CASE(a_vdso_is_checked) {
  const Images images;
  const auto vdso = [](std::uint64_t size) {
    return area(kAt, kAt + size, kRegularArea | kVdsoArea | kPrivateMemory, kPrivate | kAnonymous);
  };
  images.areas(1, vdso(0x1000));
  images.sequence(kAt, '\0');
  check_text(images.refusal(), "mm-1.img: the vDSO of the images is damaged");
  images.sequence(kAt, '\0', 2);
  check_text(images.refusal(), "mm-1.img: the vDSO is not in the images");
  check_text(images.refusal({.major = 6, .minor = 15}, SavedPages::kHere),
             "pagemap-1.img: the pages at 0x7f0000000000 are not in the images");
  images.areas(1, vdso(std::uint64_t{1} << 30));
  check_text(images.refusal(), "mm-1.img: the vDSO of the images has 1073741824 bytes");
}

BOOST_AUTO_TEST_SUITE_END()
