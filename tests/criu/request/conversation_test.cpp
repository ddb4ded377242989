#include "criu/request/conversation.hpp"

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

struct Terminal {
  Terminal() {
    int master = -1, slave = -1;
    BOOST_REQUIRE(::openpty(&master, &slave, nullptr, nullptr, nullptr) == 0);
    screen = UniqueFd(master);
    side_of_program = UniqueFd(slave);
    ::setenv("TERM", "xterm", 1);
  }
  std::string shown() const {
    std::array<char, 1000> text{};
    const auto length = ::read(screen.get(), text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max(length, ssize_t{0}))};
  }
  UniqueFd screen, side_of_program;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(progress)

BOOST_AUTO_TEST_CASE(a_line_says_what_is_known) {
  using std::chrono::seconds;
  BOOST_TEST(progress_line("checkpoint web", Amount{.done = 34 << 20, .total = 256 << 20},
                           seconds(3)) == "checkpoint web: 34 of about 256 MiB, 3 s");
  BOOST_TEST(progress_line("restore web", Amount{.done = 1, .total = std::nullopt}, seconds(0)) ==
             "restore web: 0 MiB, 0 s");
  BOOST_TEST(progress_line("restore web", std::nullopt, seconds(70)) == "restore web: 70 s");
}

BOOST_AUTO_TEST_CASE(a_terminal_shows_the_line_and_loses_it_again) {
  const Terminal terminal;
  Progress progress(terminal.side_of_program, "checkpoint web",
                    [] { return Amount{.done = 2 << 20, .total = 4 << 20}; });
  BOOST_TEST(progress.is_shown());
  progress.tick().call();
  BOOST_TEST(terminal.shown() == "\r\x1b[Kcheckpoint web: 2 of about 4 MiB, 0 s");
  progress.erase();
  BOOST_TEST(terminal.shown() == "\r\x1b[K");
}

BOOST_AUTO_TEST_CASE(a_pipe_and_a_terminal_without_a_cursor_show_nothing) {
  const auto pipe = must(linux::make_pipe());
  Progress on_pipe(pipe.writer, "checkpoint web", {});
  BOOST_TEST(!on_pipe.is_shown());
  BOOST_TEST(!on_pipe.tick().call);
  const Terminal terminal;
  ::setenv("TERM", "dumb", 1);
  BOOST_TEST(!Progress(terminal.side_of_program, "checkpoint web", {}).is_shown());
}

BOOST_AUTO_TEST_CASE(the_images_of_memory_are_counted) {
  const Scratch directory;
  const UniqueFd images = must(linux::sys::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY));
  BOOST_TEST(bytes_of_pages(images).value() == 0);
  for (const char* name : {"pages-1.img", "pages-2.img", "pagemap-1.img"})
    must(linux::replace_file(images, name, "12345", 0600));
  BOOST_TEST(bytes_of_pages(images).value() == 10);
}

BOOST_AUTO_TEST_SUITE_END()
