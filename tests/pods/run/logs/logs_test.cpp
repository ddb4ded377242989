// Logs of containers: the format, rotation, damage, and readers.

#include <sys/resource.h>

#include <csignal>

#include "pods/run/logs/reader.hpp"
#include "pods/run/logs/writer.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr timespec kNow{.tv_sec = 1'764'032'523, .tv_nsec = 123'456'789};
constexpr std::string_view kStamp = "2025-11-25T01:02:03.123456789Z";
constexpr LogLimits kSmall{.bytes = 100, .files = 3};

struct Scene : Scratch {
  UniqueFd directory = open();
  LogWriter writer(LogLimits limits = {}) const {
    return must(LogWriter::open(directory, "web", limits));
  }
  std::vector<LogLine> read(const LogQuery& query = {}) const {
    std::vector<LogLine> lines;
    must(read_log(directory, "web", query, [&](const LogLine& line) -> Result<void> {
      lines.push_back(line);
      return {};
    }));
    return lines;
  }
  std::string text(const LogQuery& query = {}) const {
    std::string all;
    for (const LogLine& line : read(query)) all += line.text + (line.whole ? "\n" : "…");
    return all;
  }
};

std::string record(std::string_view rest) { return std::string(kStamp) + std::string(rest) + "\n"; }

}  // namespace

BOOST_AUTO_TEST_SUITE(logs)

BOOST_AUTO_TEST_CASE(streams_with_unfinished_lines_interleave) {
  Scene scene;
  auto writer = scene.writer();
  must(writer.write(Stream::kStdout, "ab", kNow));
  must(writer.write(Stream::kStderr, "x\ny", kNow));
  must(writer.write(Stream::kStdout, "c\n\nd", kNow));
  must(writer.flush(kNow));
  BOOST_TEST(slurp(scene / "web.log") == record(" stderr F x") + record(" stdout F abc") +
                                             record(" stdout F ") + record(" stdout F d") +
                                             record(" stderr F y"));
  BOOST_TEST(mode_of(scene / "web.log") == 0600);
  BOOST_TEST(scene.text() == "x\nabc\n\nd\ny\n");
}

BOOST_AUTO_TEST_CASE(any_bytes_and_a_line_of_a_mebibyte_come_through) {
  Scene scene;
  const std::string odd("\0\xff\xc3 \r", 5);
  const std::string large((1 << 20) - 1, 'x');
  auto writer = scene.writer();
  must(writer.write(Stream::kStdout, odd + "\n" + large + "\n", kNow));
  must(writer.write(Stream::kStdout, std::string(kLongestPiece, 'y'), kNow));
  must(writer.write(Stream::kStdout, "\n", kNow));
  const auto lines = scene.read();
  BOOST_REQUIRE(lines.size() == 3u);
  BOOST_TEST(lines[0].text == odd);
  BOOST_TEST((lines[1].text == large && lines[1].whole));
  BOOST_TEST((lines[2].text == std::string(kLongestPiece, 'y') && lines[2].whole));
}

BOOST_AUTO_TEST_CASE(lines_do_not_depend_on_the_blocks_in_which_they_come) {
  constexpr std::size_t kMost = kLongestPiece;
  std::string bytes, records;
  for (const std::size_t size : {0UZ, 1UZ, kMost - 1, kMost, kMost + 1, 2 * kMost, 2 * kMost + 1}) {
    const std::string text(size, 'x');
    bytes += text + "\n";
    std::string_view rest = text;
    for (; rest.size() > kMost; rest.remove_prefix(kMost))
      records += record(" stdout P " + std::string(rest.substr(0, kMost)));
    records += record(" stdout F " + std::string(rest));
  }
  for (const std::size_t block : {1UZ, 7UZ, 4096UZ, kMost, kMost + 1, bytes.size()}) {
    Scene scene;
    auto writer = scene.writer();
    for (std::string_view rest = bytes; !rest.empty();
         rest.remove_prefix(std::min(block, rest.size())))
      must(writer.write(Stream::kStdout, rest.substr(0, block), kNow));
    BOOST_TEST((slurp(scene / "web.log") == records), "blocks of " << block << " bytes");
  }
}

BOOST_AUTO_TEST_CASE(one_block_fills_several_files_to_the_last_line_that_fits) {
  Scene scene;
  const std::size_t line = record(" stdout F abc").size();
  auto writer = scene.writer({.bytes = 2 * line, .files = 4});
  must(writer.write(Stream::kStdout, "aaa\nbbb\nccc\nddd\neee\nfff\nggg\n", kNow));
  BOOST_TEST(scene.text() == "aaa\nbbb\nccc\nddd\neee\nfff\nggg\n");
  BOOST_TEST(slurp(scene / "web.log") == record(" stdout F ggg"));
  BOOST_TEST(slurp(scene / "web.log.1") == record(" stdout F eee") + record(" stdout F fff"));
  BOOST_TEST(scene.names().size() == 4u);
}

BOOST_AUTO_TEST_CASE(lines_are_shown_once_a_call) {
  Scene scene;
  std::vector<std::string> shown;
  auto writer =
      must(LogWriter::open(scene.directory, "web", {}, [&](Stream stream, std::string_view lines) {
        shown.push_back((stream == Stream::kStdout ? "out " : "err ") + std::string(lines));
      }));
  must(writer.write(Stream::kStdout, "a\nb\nc", kNow));
  must(writer.write(Stream::kStderr, "d", kNow));
  must(writer.write(Stream::kStdout, std::string(kLongestPiece, 'x'), kNow));
  must(writer.flush(kNow));
  const std::string piece = "c" + std::string(kLongestPiece - 1, 'x');
  BOOST_TEST(shown == (std::vector<std::string>{"out a\nb\n", "out " + piece + "\n", "out x\n",
                                                "err d\n"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_file_that_would_be_three_bytes_too_large_is_rotated) {
  Scene scene;
  const std::string line = record(" stdout F abc");
  auto writer = scene.writer({.bytes = 2 * line.size() - 3, .files = 2});
  for (const char* text : {"aaa\n", "bbb\n", "ccc\n", "ddd\n"})
    must(writer.write(Stream::kStdout, text, kNow));
  BOOST_TEST(scene.names() == (std::vector<std::string>{"web.log", "web.log.1", "web.log.2"}),
             boost::test_tools::per_element());
  BOOST_TEST(scene.text() == "bbb\nccc\nddd\n");
  BOOST_TEST(scene.text({.since = {}, .tail = 2, .follow = false}) == "ccc\nddd\n");
}

BOOST_AUTO_TEST_CASE(since_leaves_out_what_is_older) {
  Scene scene;
  auto writer = scene.writer();
  must(writer.write(Stream::kStdout, "old\n", {.tv_sec = 10, .tv_nsec = 5}));
  must(writer.write(Stream::kStdout, "new\n", {.tv_sec = 10, .tv_nsec = 6}));
  BOOST_TEST(
      scene.text({.since = timespec{.tv_sec = 10, .tv_nsec = 6}, .tail = {}, .follow = false}) ==
      "new\n");
}

BOOST_AUTO_TEST_CASE(damaged_lines_are_skipped_and_later_lines_are_read) {
  Scene scene;
  scene.file("web.log", "foreign\n\n" + record(" stdout F good") + std::string(kStamp) + " std");
  auto writer = scene.writer();
  must(writer.write(Stream::kStderr, "after\n", kNow));
  BOOST_TEST(scene.text() == "good\nafter\n");
}

BOOST_AUTO_TEST_CASE(only_a_regular_file_is_a_log) {
  Scene scene;
  scene.file("target", "");
  BOOST_REQUIRE(::symlink("target", (scene / "a.log").c_str()) == 0);
  BOOST_REQUIRE(::mkfifo((scene / "b.log").c_str(), 0600) == 0);
  const auto ignore = [](const LogLine&) -> Result<void> { return {}; };
  for (const char* name : {"a", "b", "../c"}) {
    BOOST_TEST(!must_fail(LogWriter::open(scene.directory, name, {})).empty());
    BOOST_TEST(!must_fail(read_log(scene.directory, name, {}, ignore)).empty());
  }
}

BOOST_AUTO_TEST_CASE(a_short_write_does_not_damage_the_next_line) {
  BOOST_TEST(run_in_child(0, [] {
               Scene scene;
               auto writer = scene.writer();
               must(writer.write(Stream::kStdout, "first\n", kNow));
               // As a full disk does, the limit lets a write end in the middle of a line.
               ::signal(SIGXFSZ, SIG_IGN);
               rlimit limit{};
               BOOST_REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
               const rlim_t before = std::exchange(limit.rlim_cur, 60);
               BOOST_REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
               BOOST_TEST(must_fail(writer.write(Stream::kStdout, "lost\n", kNow)) ==
                          "log web.log: write: file too large");
               must(writer.write(Stream::kStdout, "lost too\n", kNow));
               limit.rlim_cur = before;
               BOOST_REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
               must(writer.write(Stream::kStdout, "last\n", kNow));
               BOOST_TEST(slurp(scene / "web.log") ==
                          record(" stdout F first") + record(" stdout F last"));
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_reader_follows_across_rotations) {
  Scene scene;
  int turns[2];
  BOOST_REQUIRE(::pipe2(turns, O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  if (child == 0) {  // writes one line each time that the reader asks for one
    auto writer = scene.writer(kSmall);
    ::close(turns[1]);
    char turn = 0;
    for (int i = 0; ::read(turns[0], &turn, 1) == 1; ++i)
      if (!writer.write(Stream::kStdout, std::to_string(i) + "\n", kNow)) ::_exit(1);
    ::_exit(0);
  }
  BOOST_REQUIRE(child > 0);
  UniqueFd turn(turns[1]);
  ::close(turns[0]);
  BOOST_REQUIRE(::write(turn.get(), "g", 1) == 1);
  int count = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kHangSeconds);
  must(read_log(
      scene.directory, "web", {.since = {}, .tail = {}, .follow = true},
      [&](const LogLine& line) -> Result<void> {
        BOOST_TEST(line.text == std::to_string(count));
        if (++count < 20 && ::write(turn.get(), "g", 1) != 1) return refuse("the writer is gone");
        return {};
      },
      [&] { return count == 20 || std::chrono::steady_clock::now() > end; }));
  BOOST_TEST(count == 20);
  turn.reset();
  int status = -1;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  BOOST_TEST(scene.names().size() == 4u);
}

BOOST_AUTO_TEST_CASE(a_reader_that_follows_forgets_a_line_that_the_writer_took_back) {
  Scene scene;
  scene.file("web.log", record(" stdout F one") + std::string(kStamp) + " stdout F torn");
  std::string seen;
  int turn = 0;
  must(read_log(
      scene.directory, "web", {.since = {}, .tail = {}, .follow = true},
      [&](const LogLine& line) -> Result<void> {
        seen += line.text + "\n";
        return {};
      },
      [&] {
        if (++turn == 2) scene.file("web.log", record(" stdout F one") + record(" stdout F two"));
        return turn == 2;
      }));
  BOOST_TEST(seen == "one\ntwo\n");
}

BOOST_AUTO_TEST_CASE(a_log_that_does_not_exist_is_an_error_unless_the_reader_follows) {
  Scene scene;
  const auto ignore = [](const LogLine&) -> Result<void> { return {}; };
  BOOST_TEST(must_fail(read_log(scene.directory, "web", {}, ignore)) ==
             "open the log web.log: no such file or directory");
  must(read_log(scene.directory, "web", {.since = {}, .tail = {}, .follow = true}, ignore,
                [] { return true; }));
}

BOOST_AUTO_TEST_CASE(a_day_for_since_begins_in_the_time_zone_of_the_caller) {
  const char* before = std::getenv("TZ");
  const std::string zone = before == nullptr ? "" : before;
  ::setenv("TZ", "XYZ-2", 1);  // two hours ahead of UTC
  ::tzset();
  BOOST_TEST(format_time(must(parse_since("2025-11-25", {}))) == "2025-11-24T22:00:00.000000000Z");
  before == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", zone.c_str(), 1);
  ::tzset();
}

BOOST_AUTO_TEST_CASE(times_for_since) {
  BOOST_TEST(must(parse_since("1h30m", kNow)).tv_sec == kNow.tv_sec - 5400);
  BOOST_TEST(must(parse_since("@1732500000", kNow)).tv_sec == 1'732'500'000);
  BOOST_TEST(format_time(must(parse_since(kStamp, {}))) == kStamp);
  BOOST_TEST(must(parse_since("2025-11-25T03:02:03+02:00", {})).tv_sec == kNow.tv_sec);
  for (const char* text :
       {"", "10", "m", "1y", "@", "@-1", "2025-02-30T00:00:00Z", "2025-02-30", "2025-11-25T",
        "2025-1-5", "99999999999999999999d", "2025-11-25T01:02:03.Z"})
    BOOST_TEST(must_fail(parse_since(text, kNow)).find("is no time") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
