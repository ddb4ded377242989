#include "shim/ttrpc/frame.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

using namespace ocirun::shim::ttrpc;

namespace {

using namespace std::string_literals;

std::string header_of(std::uint32_t length, std::uint32_t stream) {
  std::string bytes;
  for (const std::uint32_t number : {length, stream})
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes + "\1\0"s;
}

std::string portrait(const Frame& frame) {
  return std::to_string(frame.header.length) + "/" + std::to_string(frame.header.stream) + "/" +
         std::to_string(frame.header.type) + "/" + std::to_string(frame.header.flags) +
         (frame.is_too_long ? " too long " : " ") + frame.message;
}

std::vector<std::string> frames_in_pieces(std::string_view bytes, std::size_t piece) {
  FrameReader reader;
  std::vector<std::string> frames;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    reader.add(bytes.substr(0, piece));
    while (const auto frame = reader.next()) frames.push_back(portrait(*frame));
  }
  return frames;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ttrpc_frames)

BOOST_AUTO_TEST_CASE(a_frame_has_length_stream_type_and_flags_before_the_message) {
  std::string bytes = "before";
  append_frame(bytes, FrameType::kResponse, 0x01020304, "message");
  BOOST_TEST(bytes == "before\0\0\0\7\1\2\3\4\2\0message"s);
  append_frame(bytes, FrameType::kData, 0xfffefdfc, "");
  BOOST_TEST(bytes.substr(23) == "\0\0\0\0\xff\xfe\xfd\xfc\3\0"s);
}

BOOST_AUTO_TEST_CASE(bytes_in_any_pieces_give_the_same_frames) {
  const std::string bytes =
      "\0\0\0\3\0\0\0\1\1\0abc"
      "\0\0\0\0\0\0\0\3\2\0"
      "\0\0\0\1\xff\xff\xff\xff\xc8\x81z"
      "\0\0\1\0\0\0\1\0\3\4"s +
      std::string(256, '\xee');
  const std::vector<std::string> whole{"3/1/1/0 abc", "0/3/2/0 ", "1/4294967295/200/129 z",
                                       "256/256/3/4 " + std::string(256, '\xee')};
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece)
    BOOST_TEST((frames_in_pieces(bytes, piece) == whole), piece);
}

BOOST_AUTO_TEST_CASE(a_part_of_a_frame_is_none) {
  FrameReader reader;
  BOOST_TEST(!reader.next());
  reader.add("\0\0\0\2\0\0\0\1\1"s);
  BOOST_TEST(!reader.next());
  reader.add("\0a"s);
  BOOST_TEST(!reader.next());
  BOOST_TEST(reader.size() == 11U);
  reader.add("bc");
  BOOST_TEST(reader.next()->message == "ab");
  BOOST_TEST(reader.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_message_of_4_mib_is_read) {
  const std::string message(std::size_t{4} << 20, 'm');
  FrameReader reader;
  reader.add(header_of(4 << 20, 1) + message + header_of(0, 3));
  const auto frame = reader.next();
  BOOST_REQUIRE(frame.has_value());
  BOOST_TEST(!frame->is_too_long);
  BOOST_TEST((frame->message == message));
  BOOST_TEST(reader.next()->header.stream == 3U);
  BOOST_TEST(reader.size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_message_of_one_byte_more_is_told_and_skipped) {
  constexpr std::uint32_t kLength = (4 << 20) + 1;
  const std::string bytes =
      header_of(kLength, 1) + std::string(kLength, 'm') + header_of(3, 3) + "abc";
  const std::vector<std::string> whole{"4194305/1/1/0 too long ", "3/3/1/0 abc"};
  for (const std::size_t piece : {std::size_t{4099}, std::size_t{65536}, bytes.size()})
    BOOST_TEST((frames_in_pieces(bytes, piece) == whole), piece);
}

BOOST_AUTO_TEST_CASE(a_message_that_is_too_long_is_told_at_once_and_not_kept) {
  FrameReader reader;
  reader.add(header_of(0xffffffff, 1));
  BOOST_TEST(reader.next()->is_too_long);
  std::size_t kept = 0;
  const std::string piece(std::size_t{1} << 20, 'm');
  for (int i = 0; i < 64; ++i) {
    reader.add(piece);
    BOOST_TEST(!reader.next());
    kept = std::max(kept, reader.size());
  }
  BOOST_TEST(kept == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
