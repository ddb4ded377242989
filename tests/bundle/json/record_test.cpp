// One table writes a record and reads it.

#include "bundle/json/record.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

namespace ocirun::bundle {
namespace {

using test::must;
using test::must_fail;

enum class Colour : std::uint8_t { kRed, kGreen };
constexpr linux::Named<Colour> kColours[] = {{"red", Colour::kRed}, {"green", Colour::kGreen}};
constexpr RecordWord<kColours> kColour{"colour"};

struct Part {
  std::string name;
  Colour colour = Colour::kRed;
  friend bool operator==(const Part&, const Part&) = default;
};
struct Whole {
  int format = 1;
  bool is_new = true;
  int count = 0;
  std::string note;
  std::optional<int> code;
  std::vector<Part> parts;
  friend bool operator==(const Whole&, const Whole&) = default;
};

constexpr auto kPart = exact_fields<Part>(required("name", &Part::name, text),
                                          field("colour", &Part::colour, kColour));
constexpr auto kWhole = exact_fields<Whole>(
    written("format", &Whole::format, RecordFormat{2}), field("isNew", &Whole::is_new, flag),
    required("count", &Whole::count, whole_number), written("note", &Whole::note, text),
    field("code", &Whole::code, range(0, 255)), required("parts", &Whole::parts, list_of(kPart)));

std::string written_text(const Whole& whole) {
  return text_of(kWhole, whole, JsonWriter::Layout::kOneLine);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(records)

BOOST_AUTO_TEST_CASE(only_an_optional_row_is_left_out_and_only_with_its_default) {
  BOOST_TEST(written_text({}) == R"({"format":2,"count":0,"note":"","parts":[]})");
  const Whole full{.format = 2,
                   .is_new = false,
                   .count = -3,
                   .note = "n",
                   .code = 0,
                   .parts = {{.name = "a", .colour = Colour::kGreen}, {.name = "b"}}};
  const std::string text = written_text(full);
  BOOST_TEST(text == R"({"format":2,"isNew":false,"count":-3,"note":"n","code":0,)"
                     R"("parts":[{"name":"a","colour":"green"},{"name":"b"}]})");
  BOOST_TEST((must(parse_record("whole", text, kWhole)) == full));
}

BOOST_AUTO_TEST_CASE(a_row_that_is_always_written_may_be_absent_from_an_older_record) {
  const Whole read = must(parse_record("whole", R"({"count":1,"parts":[]})", kWhole));
  BOOST_TEST(read.format == 1);
  BOOST_TEST(read.count == 1);
}

BOOST_AUTO_TEST_CASE(a_newer_record_is_told_from_a_damaged_one) {
  for (const std::string format : {"3", "99999999999999999999"}) {
    const std::string text = R"({"format":)" + format + R"(,"later":1})";
    const auto newer = parse_record("w", text, kWhole, kNewerRecord);
    BOOST_REQUIRE(!newer);
    if (format == "3") BOOST_TEST(newer.error().number() == kNewerRecord);
    if (format == "3") BOOST_TEST(must_fail(parse_record("w", text, kWhole)).contains("is 3, and"));
  }
  for (const std::string_view text : {"", "[]", R"({"format":0})", R"({"format":"3"})"}) {
    const auto damaged = parse_record("w", text, kWhole);
    BOOST_REQUIRE(!damaged);
    BOOST_TEST(damaged.error().number() == 0);
    BOOST_TEST(damaged.error().message().starts_with("w: "));
  }
}

BOOST_AUTO_TEST_CASE(a_file_is_read_again_with_a_bound_and_follows_no_link) {
  const test::Scratch scratch;
  const UniqueFd directory = scratch.open();
  Whole whole;
  whole.note = "kept";
  must(replace_record(directory, "whole.json", kWhole, whole));
  BOOST_TEST(must(read_record(directory, "whole.json", 1000, kWhole)).note == "kept");
  BOOST_TEST(!read_record(directory, "whole.json", 10, kWhole));
  BOOST_REQUIRE(::symlinkat("whole.json", directory.get(), "link.json") == 0);
  BOOST_TEST(!read_record(directory, "link.json", 1000, kWhole));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
