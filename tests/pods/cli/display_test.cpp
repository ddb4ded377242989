// The output of containers of a pod in the foreground, when its reader is slow or gone.

#include "pods/cli/display.hpp"

#include <fcntl.h>
#include <pty.h>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::test;
using ocirun::pods::cli::Display;

namespace {

std::string present(Fd pipe) {
  std::string text(1 << 20, '\0');
  const ssize_t count = ::read(pipe.value, text.data(), text.size());
  text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(display_of_output)

BOOST_AUTO_TEST_CASE(a_file_gets_all_lines) {
  const Scratch scratch;
  scratch.file("out", "");
  const UniqueFd file = must(linux::sys::open((scratch / "out").c_str(), O_WRONLY));
  std::string lines = std::string(100'000, 'x') + "\n";
  for (int line = 0; line < 50'000; ++line) lines += std::to_string(line) + "\n";
  Display(file).print(lines);
  BOOST_TEST((slurp(scratch / "out") == lines));
}

OCIRUN_CHILD_TEST(nobody_reads_and_the_supervisor_goes_on, 0) {
  ::alarm(kHangSeconds);
  const linux::Pipe pipe = must(linux::make_pipe());
  Display display{Fd(pipe.writer)};
  std::string lines;
  while (lines.size() < 1 << 20) lines += "a line of a program\n";
  display.print(lines);
  const std::string read = present(pipe.reader);
  BOOST_TEST((lines.starts_with(read) && read.ends_with('\n')));
  BOOST_TEST(read.size() > 4096u);
}

OCIRUN_CHILD_TEST(a_line_that_was_left_out_in_part_is_ended_before_the_next, 0) {
  ::alarm(kHangSeconds);
  const linux::Pipe pipe = must(linux::make_pipe());
  Display display{Fd(pipe.writer)};
  display.print(std::string(1 << 20, 'x') + "\n");
  BOOST_TEST(present(pipe.reader).find('\n') == std::string::npos);
  display.print("next\n");
  BOOST_TEST(present(pipe.reader) == "\nnext\n");
}

OCIRUN_CHILD_TEST(a_terminal_that_nobody_reads_delays_nothing, 0) {
  ::alarm(kHangSeconds);
  int master = -1;
  int terminal = -1;
  BOOST_REQUIRE(::openpty(&master, &terminal, nullptr, nullptr, nullptr) == 0);
  const UniqueFd reader(master);
  const UniqueFd writer(terminal);
  Display display{Fd(writer)};
  for (int round = 0; round < 3; ++round) display.print(std::string(1 << 20, 'x') + "\n");
  std::string read(1 << 20, '\0');
  BOOST_REQUIRE(::read(reader.get(), read.data(), read.size()) > 0);
  BOOST_TEST((::fcntl(writer.get(), F_GETFL) & O_NONBLOCK) == 0);  // the caller's shell shares it
}

BOOST_AUTO_TEST_SUITE_END()
