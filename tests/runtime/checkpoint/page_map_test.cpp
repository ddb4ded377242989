#include "runtime/checkpoint/page_map.hpp"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/linux/mounts/scene.hpp"
#include "tests/runtime/checkpoint/memory_text.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
using linux::ImageKind;

namespace {

constexpr std::uint32_t kParent = 1, kLazy = 2, kPresent = 4;
constexpr std::uint64_t kAt = 0x7F0000000000;
// The tests run on machines with pages of 4096 bytes.
constexpr std::size_t kPage = 4096;

/// The images of a dump, in `last`, and of the pre-dump before it.
struct Images {
  Images() {
    std::filesystem::create_directories(scratch.path() + "/last");
    std::filesystem::create_directories(scratch.path() + "/first");
    std::filesystem::create_directory_symlink("../first", scratch.path() + "/last/parent");
  }
  void map(const std::string& name, std::initializer_list<std::string> ranges) const {
    std::string bytes = image(ImageKind::kPageMap, {number(1, 3)});
    for (const std::string& range : ranges)
      bytes += word(static_cast<std::uint32_t>(range.size())) + range;
    scratch.file(name, bytes, 0600);
  }
  /// Pages that consist of these letters.
  void content(const std::string& directory, std::string_view letters) const {
    std::string bytes;
    for (const char letter : letters) bytes += std::string(kPage, letter);
    scratch.file(directory + "/pages-3.img", bytes, 0600);
  }
  UniqueFd last() const {
    return must(linux::sys::open((scratch.path() + "/last").c_str(), O_RDONLY | O_DIRECTORY));
  }
  std::string refusal(SavedPages pages = SavedPages::kHere) const {
    const auto checked = check_page_maps(last(), pages);
    return checked ? "" : checked.error().message();
  }
  std::string refusal_of(const std::string& range) const {
    map("last/pagemap-7.img", {range});
    return refusal();
  }
  Result<std::optional<std::string>> read(std::uint64_t address, std::size_t size) const {
    return read_saved_memory(last(), 7, address, size);
  }

  Scratch scratch;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(page_map)

BOOST_AUTO_TEST_CASE(pages_in_order_pass) {
  const Images images;
  BOOST_TEST(images.refusal() == "");
  images.map("last/pagemap-7.img", {pages(kAt, 2), pages(kAt + 2 * kPage, 1, kParent),
                                    pages(kAt + 9 * kPage, 1, kLazy | kPresent)});
  images.map("last/pagemap-shmem-5.img", {pages(0, 3), pages(9 * kPage, 1)});
  images.map("first/pagemap-7.img", {number(1, kAt) + number(2, 5)});
  BOOST_TEST(images.refusal() == "");
}

BOOST_AUTO_TEST_CASE(pages_that_criu_would_write_over_its_own_memory_are_refused) {
  const Images images;
  // The sum of address and size goes round to a small number.
  check_text(images.refusal_of(pages(~std::uint64_t{0} - kPage + 1, 1)),
             "pagemap-7.img: 1 pages at 0xfffffffffffff000: no memory has such pages");
  check_text(images.refusal_of(pages(kAt + 1, 1)), "no memory has such pages");
  check_text(images.refusal_of(pages(kAt, 0)), "no memory has such pages");
  check_text(images.refusal_of(number(1, kAt) + number(2, 0) + number(5, std::uint64_t{1} << 31)),
             "no memory has such pages");
}

BOOST_AUTO_TEST_CASE(images_of_shared_memory_and_of_pre_dumps_are_checked) {
  for (const char* name : {"last/pagemap-shmem-5.img", "first/pagemap-7.img"}) {
    const Images images;
    images.map(name, {pages(kAt, 4), pages(kAt + 2 * kPage, 1)});
    check_text(images.refusal(), "overlap those before, or are not in order");
  }
}

BOOST_AUTO_TEST_CASE(pages_are_in_one_place) {
  const Images images;
  for (const std::uint32_t flags : {0U, kParent | kPresent, kParent | kLazy, 8U, 8U | kPresent})
    check_text(images.refusal_of(pages(kAt, 1, flags)), "are in several places, or in none");
  // The field in_parent and the flags say different things.
  check_text(images.refusal_of(pages(kAt, 1, kPresent) + number(3, 1)), "are in several places");
  BOOST_TEST(images.refusal_of(number(1, kAt) + number(2, 1) + number(3, 1)) == "");
  BOOST_TEST(images.refusal_of(number(1, kAt) + number(2, 1) + number(3, 0)) == "");
  BOOST_TEST(images.refusal_of(pages(kAt, 1, kParent) + number(3, 0)) == "");
}

BOOST_AUTO_TEST_CASE(pages_are_fetched_later_only_if_the_caller_says_so) {
  const Images images;
  check_text(images.refusal_of(pages(kAt, 1, kLazy)), "are not in the images: give --lazy-pages");
  BOOST_TEST(images.refusal(SavedPages::kFetchedLater) == "");
}

BOOST_AUTO_TEST_CASE(an_image_counts_pages_in_one_field) {
  const Images images;
  const auto counted = [](std::uint64_t address, std::uint64_t old_count, std::uint64_t count) {
    return number(1, address) + number(2, old_count) + number(4, kPresent) + number(5, count);
  };
  images.map("last/pagemap-7.img", {counted(kAt, 0, 2), counted(kAt + 2 * kPage, 0, 1)});
  BOOST_TEST(images.refusal() == "");
  check_text(images.refusal_of(counted(kAt, 2, 2)), "have two numbers of pages");
  check_text(images.refusal_of(counted(kAt, 2, 0)), "no memory has such pages");
  images.map("last/pagemap-7.img", {counted(kAt, 0, 2), pages(kAt + 2 * kPage, 1)});
  check_text(images.refusal(), "are counted in another field");
}

BOOST_AUTO_TEST_CASE(memory_is_read_as_criu_puts_it_together) {
  const Images images;
  images.map("last/pagemap-7.img",
             {pages(kAt, 2), pages(kAt + 2 * kPage, 1, kParent), pages(kAt + 4 * kPage, 1)});
  images.content("last", "abd");
  images.map("first/pagemap-7.img", {pages(kAt, 4)});
  images.content("first", "ABCD");
  const std::string all = must(images.read(kAt, 5 * kPage)).value();
  for (const auto& [page, letter] :
       {std::pair{0U, 'a'}, {1U, 'b'}, {2U, 'C'}, {3U, '\0'}, {4U, 'd'}})
    BOOST_TEST(all.substr(page * kPage, kPage) == std::string(kPage, letter));
  BOOST_TEST(must(images.read(kAt + 2 * kPage - 1, 2)).value() == "bC");
  BOOST_TEST(must(images.read(kAt - 1, 2)).value() == std::string("\0a", 2));
}

BOOST_AUTO_TEST_CASE(pages_that_are_fetched_later_cannot_be_read) {
  const Images images;
  images.map("last/pagemap-7.img", {pages(kAt, 1, kLazy), pages(kAt + kPage, 1)});
  images.content("last", "b");
  BOOST_TEST(!must(images.read(kAt, 8)).has_value());
  BOOST_TEST(must(images.read(kAt + kPage, 2)).value() == "bb");
}

BOOST_AUTO_TEST_CASE(a_missing_page_is_an_error) {
  const Images images;
  images.map("last/pagemap-7.img", {pages(kAt, 3, kParent)});
  check_text(images.read(kAt, 8).error().message(),
             "are neither in these images nor in those of a pre-dump");
  images.map("first/pagemap-7.img", {pages(kAt, 2)});
  images.content("first", "a");
  BOOST_TEST(must(images.read(kAt, 8)).value() == "aaaaaaaa");
  check_text(images.read(kAt + kPage, 8).error().message(), "the image ends before the page");
  check_text(images.read(kAt + 2 * kPage, 8).error().message(), "are neither in these images");
  std::filesystem::remove(images.scratch.path() + "/last/parent");
  check_text(images.read(kAt, 8).error().message(),
             "are neither in these images nor in those of a pre-dump");
}

BOOST_AUTO_TEST_SUITE_END()
