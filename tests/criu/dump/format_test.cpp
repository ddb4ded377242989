#include "criu/dump/format.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <string>

#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

std::string bytes_of_word(std::uint32_t number) {
  std::string bytes;
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>((number >> shift) & 0xFFU);
  return bytes;
}

std::string image_of_entry(ImageKind kind, const std::string& entry) {
  return bytes_of_word(0x54564319) + bytes_of_word(static_cast<std::uint32_t>(kind)) +
         bytes_of_word(static_cast<std::uint32_t>(entry.size())) + entry;
}

int number_of_error(std::string_view text) {
  const auto parsed = parse_image(text, ImageKind::kMounts);
  return parsed ? 0 : parsed.error().number();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(image_file)

BOOST_AUTO_TEST_CASE(entries_and_fields_are_read) {
  using namespace std::string_literals;
  // Field 1 is 300, field 7 "./x", field 3 four bytes, field 4 eight bytes.
  const std::string entry = "\x08\xAC\x02\x3A\x03./x\x1D"s + "abcd" + "\x21"s + "12345678";
  const std::string text = image_of_entry(ImageKind::kMounts, entry) + bytes_of_word(0);
  const auto entries = must(parse_image(text, ImageKind::kMounts));
  BOOST_REQUIRE(entries.size() == 2U);
  BOOST_TEST(entries[1].empty());
  BOOST_TEST((number_in(entries[0], 1) == 300U));
  BOOST_TEST(text_in(entries[0], 7) == "./x");
  BOOST_TEST(text_in(entries[0], 3) == "abcd");
  BOOST_TEST(text_in(entries[0], 4) == "12345678");
  BOOST_TEST(!number_in(entries[0], 2));
  BOOST_TEST(text_in(entries[0], 2).empty());
}

BOOST_AUTO_TEST_CASE(data_may_follow_each_entry) {
  using namespace std::string_literals;
  const auto after = [](const ImageMessage& entry) { return number_in(entry, 1).value_or(0); };
  const std::string one = bytes_of_word(2) + "\x08\x03" + "abc";
  const std::string two = bytes_of_word(2) + "\x08\x01" + "\xFF";
  const std::string begin = image_of_entry(ImageKind::kSocketQueues, "\x08\x00"s);
  const auto entries =
      must(parse_image_with_data(begin + one + two, ImageKind::kSocketQueues, after));
  BOOST_TEST_REQUIRE(entries.size() == 3U);
  BOOST_TEST((number_in(entries[2], 1) == 1U));
  for (std::size_t missing = 1; missing < one.size(); ++missing)
    BOOST_TEST(!parse_image_with_data(begin + one.substr(0, one.size() - missing),
                                      ImageKind::kSocketQueues, after));
}

BOOST_AUTO_TEST_CASE(the_first_entry_is_read_although_the_rest_is_none) {
  const std::string text = image_of_entry(ImageKind::kGhost, "\x18\x05") + "content";
  BOOST_TEST((number_in(must(parse_first_entry(text, ImageKind::kGhost)), 3) == 5U));
  BOOST_TEST(!parse_first_entry(text, ImageKind::kFiles));
  BOOST_TEST(!parse_first_entry(text.substr(0, 13), ImageKind::kGhost));
}

BOOST_AUTO_TEST_CASE(a_field_holds_one_message) {
  const auto message = must(parse_image_message("\x12\x04\x08\x01\x18\x07"));
  BOOST_TEST((number_in(must(message_in(message, 2)), 3) == 7U));
  BOOST_TEST(must(message_in(message, 4)).empty());
  BOOST_TEST(!message_in(must(parse_image_message("\x12\x01\x08")), 2));
  BOOST_TEST(!message_in(must(parse_image_message("\x12\x02\x08\x01\x12\x02\x08\x01")), 2));
}

BOOST_AUTO_TEST_CASE(the_last_of_several_fields_counts) {
  const auto message = must(parse_image_message("\x08\x01\x08\x02"));
  BOOST_TEST((number_in(message, 1) == 2U));
}

BOOST_AUTO_TEST_CASE(an_image_with_too_many_entries_or_fields_is_refused) {
  std::string fields;
  for (std::size_t i = 0; i < kMostImageFields; ++i) fields += "\x08\x01";
  BOOST_TEST(number_of_error(image_of_entry(ImageKind::kMounts, fields)) == 0);
  BOOST_TEST(number_of_error(image_of_entry(ImageKind::kMounts, fields + "\x08\x01")) == EFBIG);
  BOOST_TEST(number_of_error(image_of_entry(ImageKind::kMounts, fields) + bytes_of_word(2) +
                             "\x08\x01") == EFBIG);
  std::string entries = image_of_entry(ImageKind::kMounts, "");
  for (std::size_t i = 1; i < kMostImageEntries; ++i) entries += bytes_of_word(0);
  BOOST_TEST(number_of_error(entries) == 0);
  BOOST_TEST(number_of_error(entries + bytes_of_word(0)) == EFBIG);
}

BOOST_AUTO_TEST_CASE(damaged_images_are_refused) {
  using namespace std::string_literals;
  const std::string good = image_of_entry(ImageKind::kMounts, "\x08\x01");
  BOOST_TEST(number_of_error(good) == 0);
  const std::string elevens(11, '\xFF');
  for (const std::string& bad :
       {""s, good.substr(0, 7), good.substr(0, 10), good.substr(0, good.size() - 1), good + "x",
        image_of_entry(ImageKind::kCore, "\x08\x01"), image_of_entry(ImageKind::kMounts, "\x08"),
        image_of_entry(ImageKind::kMounts, "\x0A\x05x"), image_of_entry(ImageKind::kMounts, "\x0B"),
        image_of_entry(ImageKind::kMounts, "\x00\x01"s),
        image_of_entry(ImageKind::kMounts, "\x08" + elevens),
        image_of_entry(ImageKind::kMounts, "\x0A" + elevens.substr(2) + "\x01")})
    BOOST_TEST(number_of_error(bad) == EBADMSG, bad.size());
}

BOOST_AUTO_TEST_SUITE_END()
