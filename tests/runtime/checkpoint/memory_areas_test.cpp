#include "runtime/checkpoint/memory_areas.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/linux/mounts/scene.hpp"
#include "tests/runtime/checkpoint/memory_text.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
using linux::ImageKind;

namespace {

constexpr std::uint64_t kRoom = std::uint64_t{64} << 20;
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20, kGibibyte = std::uint64_t{1} << 30;

/// The error for an image with these fields; "" for none.
std::string refusal(const std::string& fields) {
  const auto read = read_memory_areas(image(ImageKind::kMemory, {fields}), kRoom);
  return read ? "" : read.error().message();
}
/// The error for the usual areas with one more between them.
std::string refusal_of(const std::string& more) {
  return refusal(memory(0x555500000000, 0x555500010000) + more +
                 memory(0x7FFC00000000, 0x7FFC00020000));
}
constexpr std::uint64_t kAt = 0x7F0000000000;
std::string of(std::uint32_t status, std::uint32_t flags, std::uint64_t size = 0x200000) {
  return refusal_of(area(kAt, kAt + size, status, flags));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_areas)

BOOST_AUTO_TEST_CASE(the_memory_of_a_usual_program_passes) {
  const auto areas = must(read_memory_areas(image(ImageKind::kMemory, {usual_memory()}), kRoom));
  BOOST_REQUIRE(areas.size() == 3U);
  BOOST_TEST(areas[0].start == 0x555500000000U);
  BOOST_TEST(areas[0].size() == 0x10000U);
  BOOST_TEST(areas[0].is(kPrivateMemory));
  BOOST_TEST(holds(areas, 0x55550000FFFF, 1));
  BOOST_TEST(!holds(areas, 0x55550000FFFF, 2));
  BOOST_TEST(!holds(areas, 0x555500010000, 1));
  BOOST_TEST(!holds(areas, 0x555500000000, ~std::uint64_t{0}));
}

BOOST_AUTO_TEST_CASE(the_memory_of_a_program_at_fixed_addresses_passes) {
  BOOST_TEST(refusal(memory(0x400000, 0x500000) + usual_memory()) == "");
}

BOOST_AUTO_TEST_CASE(the_memory_of_a_program_of_32_bits_passes) {
  BOOST_TEST(refusal(memory(0x8048000, 0x8050000) + memory(0xF7000000, 0xF7200000) +
                     memory(0xFFF00000, 0xFFF20000)) == "");
}

BOOST_AUTO_TEST_CASE(each_kind_of_memory_passes_with_its_flags) {
  BOOST_TEST(of(kRegularArea | kPrivateFile, kPrivate) == "");
  BOOST_TEST(of(kRegularArea | kSharedFile, kShared) == "");
  BOOST_TEST(of(kRegularArea | kSharedMemory, kShared | kAnonymous) == "");
  BOOST_TEST(of(kRegularArea | kVdsoArea | kPrivateMemory, kPrivate | kAnonymous) == "");
  BOOST_TEST(of(kRegularArea | 1U << 11, kShared) == "");  // the ring of a packet socket
  BOOST_TEST(of(kRegularArea | kPrivateMemory, kPrivate | kAnonymous | kHuge | 21U << 26) == "");
  BOOST_TEST(of(kRegularArea | kPrivateMemory, kDroppable | kAnonymous) == "");
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_as_its_flags_say_is_refused) {
  check_text(of(kRegularArea | kPrivateFile, kShared), "is private by its status and shared");
  check_text(of(kRegularArea | kSharedFile, kPrivate), "is private by its status and shared");
  check_text(of(kRegularArea | kPrivateMemory, kShared | kPrivate | kAnonymous),
             "is private by its status and shared");
  check_text(of(kRegularArea | kPrivateMemory, kPrivate | kDroppable | kAnonymous),
             "is private by its status and shared");
  check_text(of(kRegularArea | kPrivateFile, kDroppable), "is private by its status and shared");
  check_text(of(kRegularArea | kSharedMemory, kDroppable | kAnonymous),
             "is private by its status and shared");
  check_text(of(kRegularArea | kPrivateMemory, kPrivate), "is of no file by its status");
  check_text(of(kRegularArea | kPrivateMemory | kPrivateFile, kPrivate | kAnonymous),
             "is of two kinds");
  check_text(of(kRegularArea, kShared), "is of two kinds, or of none");
  check_text(of(kRegularArea | kPrivateMemory | kSystemVMemory, kPrivate | kAnonymous),
             "is of System V and not shared");
  check_text(of(kRegularArea | kSharedMemory | kMemfdArea, kShared | kAnonymous),
             "is of a memfd by its status, and of no file");
  check_text(of(kRegularArea | kVdsoArea | kPrivateFile, kPrivate), "is a vDSO and something else");
  check_text(of(kGuardArea | kRegularArea | kPrivateMemory, kPrivate | kAnonymous),
             "is a guard and something else");
  check_text(refusal_of(area(kAt, kAt + 0x1000, kRegularArea | kSharedFile, kShared,
                             (std::uint64_t{1} << 32) + 7)),
             "is of a file with a number that criu does not give");
  check_text(refusal_of(text(14, number(1, kAt) + number(2, kAt + 0x1000) + number(8, 10))),
             "names a descriptor, which criu would map");
}

BOOST_AUTO_TEST_CASE(a_status_of_crius_own_is_refused) {
  for (unsigned bit = 27; bit < 32; ++bit)
    check_text(of(kRegularArea | kPrivateMemory | 1U << bit, kPrivate | kAnonymous),
               "the memory from 0x7f0000000000 to 0x7f0000200000 has a status that criu gives");
}

BOOST_AUTO_TEST_CASE(a_file_of_memory_is_not_made_or_emptied) {
  const std::string fields = number(1, kAt) + number(2, kAt + 0x1000) + number(6, kPrivate) +
                             number(7, kRegularArea | kPrivateFile);
  BOOST_TEST(refusal_of(text(14, fields + number(10, 2))) == "");
  check_text(refusal_of(text(14, fields + number(10, 01000))), "is of a file that criu would make");
}

BOOST_AUTO_TEST_CASE(memory_consists_of_whole_pages) {
  check_text(of(kRegularArea | kPrivateFile, kPrivate, 0x1001), "does not consist of whole pages");
  check_text(of(kRegularArea | kPrivateMemory, kPrivate | kAnonymous | kHuge | 21U << 26, 0x1000),
             "does not consist of whole pages");
  check_text(of(kRegularArea | kPrivateMemory, kPrivate | kAnonymous | kHuge | 30U << 26),
             "does not consist of whole pages");
  check_text(of(kRegularArea | kSharedFile, kShared | kHuge), "of a size that criu has not saved");
  check_text(of(kRegularArea | kSharedFile, kShared | kHuge | 63U << 26),
             "of a size that criu has not saved");
}

BOOST_AUTO_TEST_CASE(addresses_ascend_and_do_not_go_round) {
  check_text(refusal_of(memory(0x555500008000, 0x555500020000)), "overlaps the memory before");
  check_text(refusal_of(memory(kAt, kAt + kMebibyte) + memory(kAt - kMebibyte, kAt)),
             "overlaps the memory before, or is not in order");
  check_text(refusal_of(memory(kAt, kAt)), "has no size");
  check_text(refusal_of(memory(kAt, 0x1000)), "has no size");
  check_text(refusal(memory(0, 0x1000) + usual_memory()), "begins at the address 0");
  check_text(refusal(usual_memory() + memory(0xFFFFFFFFFF700000, 0xFFFFFFFFFF800000)),
             "ends above every address");
}

BOOST_AUTO_TEST_CASE(a_list_in_which_criu_finds_no_hole_is_refused) {
  // Holes of a mebibyte up to the last area, which criu would overlook.
  std::string full;
  for (std::uint64_t at = kMebibyte; at < 64 * kMebibyte; at += 2 * kMebibyte)
    full += memory(at, at + kMebibyte);
  check_text(refusal(full), "leaves no hole of 64 MiB");
  BOOST_TEST(refusal(full + memory(0x7FFC00000000, 0x7FFC00020000)) == "");
  // A hole may be as large as the memory of criu while it restores, and criu's may be in it.
  check_text(
      refusal(memory(0x10000, 1000 * kGibibyte) + memory(1100 * kGibibyte, 1101 * kGibibyte)),
      "leaves no hole");
  check_text(refusal(memory(0x10000, 4 * kGibibyte) + memory(6 * kGibibyte, 7 * kGibibyte)),
             "leaves no hole");
}

BOOST_AUTO_TEST_CASE(guards_are_the_last_and_inside_of_memory) {
  const auto guard = [](std::uint64_t start, std::uint64_t size = 0x1000) {
    return area(start, start + size, kGuardArea, kPrivate | kAnonymous);
  };
  const std::string memories =
      memory(0x555500000000, 0x555500010000) + memory(0x7FFC00000000, 0x7FFC00020000);
  BOOST_TEST(refusal(memories + guard(0x555500001000) + guard(0x555500000000)) == "");
  check_text(refusal(memories + guard(0x55550000F000, 0x2000)), "is no guard inside of other");
  // criu 4.2 writes one guard over mappings that touch.
  const std::string touching = memory(0x555500000000, 0x555500010000) +
                               memory(0x555500010000, 0x555500020000) +
                               memory(0x7FFC00000000, 0x7FFC00020000);
  BOOST_TEST(refusal(touching + guard(0x55550000F000, 0x2000)) == "");
  check_text(refusal(touching + guard(0x55550001F000, 0x2000)), "is no guard inside of other");
  check_text(refusal(memories + guard(0x555500010000)), "is no guard inside of other memory");
  check_text(refusal(guard(0x555500001000) + memories), "is no guard inside of other memory");
}

BOOST_AUTO_TEST_CASE(a_ring_of_asynchronous_io_is_on_memory_for_it) {
  const std::string ring = area(kAt, kAt + 0x3000, kAioRing, kShared);
  const auto entry = [](std::uint64_t address, std::uint64_t size) {
    return text(16, number(1, address) + number(2, 128) + number(3, size));
  };
  BOOST_TEST(refusal_of(ring + entry(kAt, 0x3000)) == "");
  check_text(refusal_of(ring + entry(kAt, 0x4000)), "is on no memory for a ring");
  check_text(refusal_of(ring + entry(0x10000, 0x3000)),
             "the ring of asynchronous input and output at 0x10000 is on no memory for a ring");
  check_text(refusal_of(memory(kAt, kAt + 0x3000) + entry(kAt, 0x3000)), "on no memory for a ring");
}

BOOST_AUTO_TEST_CASE(an_image_without_a_list_is_refused) {
  check_text(refusal(number(1, 5)), "the image lists no memory");
  BOOST_TEST(!read_memory_areas(image(ImageKind::kMemory, {}), kRoom).has_value());
  BOOST_TEST(!read_memory_areas(image(ImageKind::kCore, {usual_memory()}), kRoom).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
