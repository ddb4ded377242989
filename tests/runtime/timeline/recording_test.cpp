#include "bundle/documents/recording.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/timeline.hpp"
#include "linux/process/clone.hpp"
#include "runtime/timeline/events.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using bundle::Recording;
using namespace ocirun::test;
namespace timeline = ocirun::linux::timeline;

namespace {

const Event& find(const Timeline& read, std::string_view name) {
  const auto found = std::ranges::find(read.events, name, &Event::name);
  if (found == read.events.end()) throw std::runtime_error("no event " + std::string(name));
  return *found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recording)

OCIRUN_CHILD_TEST(what_is_written_is_read, 0) {
  const Scratch scratch;
  const std::string file = scratch / "trace";
  Recording recording = must(Recording::begin(HostPath(file), "ocirun run \"web\"\n"));
  timeline::step("a", "a name\nwith a line break");
  {
    const timeline::Wait wait("inner");
    ::usleep(100);
  }
  {
    const timeline::ProgramSpan program("hook", "/bin/true");
  }
  BOOST_TEST(recording.finish().has_value());
  timeline::step("too late");
  BOOST_TEST(recording.finish().has_value());

  BOOST_TEST(mode_of(file) == 0600);
  const Timeline read = must(read_timeline(slurp(file)));
  BOOST_TEST(read.title == "ocirun run \"web\"\n");
  BOOST_REQUIRE(read.events.size() == 4);
  BOOST_TEST(find(read, "a").object == "a name\nwith a line break");
  BOOST_TEST(find(read, "a").lane == "ocirun");
  BOOST_TEST(find(read, "a").category == "step");
  BOOST_TEST(find(read, "read the arguments").begin == 0);
  BOOST_TEST(find(read, "inner").depth == 1);
  BOOST_TEST(find(read, "inner").length >= 100'000);
  BOOST_TEST(find(read, "inner").length <= find(read, "a").length);
  BOOST_TEST(find(read, "hook").lane == "programs");
  BOOST_TEST(find(read, "hook").depth == 0);
}

OCIRUN_CHILD_TEST(an_open_step_ends_when_ocirun_has_waited_for_it, 0) {
  const Scratch scratch;
  Recording recording = must(Recording::begin(HostPath(scratch / "trace"), "t"));
  {
    const timeline::Wait wait("for execve");
    const linux::Child child = must(linux::clone_process(0, Fd{}, linux::Parentage::kMine));
    if (child.pid == 0) {
      timeline::name_lane("init");
      timeline::leave("execute the program");
      ::_exit(0);
    }
    ::waitpid(child.pid, nullptr, 0);
  }
  timeline::step("later");
  ::usleep(1000);
  BOOST_TEST(recording.finish().has_value());
  const Timeline read = must(read_timeline(slurp(scratch / "trace")));
  BOOST_TEST(find(read, "execute the program").end() <= find(read, "later").begin);
  const auto difference = find(read, "execute the program").end() - find(read, "for execve").end();
  BOOST_TEST(std::abs(difference) <= 20);  // ns: the file has hundredths of a microsecond
}

BOOST_AUTO_TEST_CASE(a_missing_directory_is_told_before_anything_is_made) {
  const Scratch scratch;
  const auto begun = Recording::begin(HostPath(scratch / "none/trace"), "t");
  BOOST_TEST(must_fail(begun).find("none") != std::string::npos);
  BOOST_TEST(!timeline::is_on());
}

BOOST_AUTO_TEST_CASE(what_is_no_regular_file_is_not_replaced) {
  const Scratch scratch;
  for (const char* file : {"/dev/null", "/dev/stdout", ".", ".."})
    BOOST_TEST(!Recording::begin(HostPath(file[0] == '/' ? file : scratch / file), "t"));
  BOOST_TEST(!timeline::is_on());
}

OCIRUN_CHILD_TEST(a_file_that_cannot_be_written_is_told, 0) {
  const Scratch scratch;
  must(linux::sys::mkdirat(Fd{AT_FDCWD}, (scratch / "gone").c_str(), 0700));
  Recording recording = must(Recording::begin(HostPath(scratch / "gone/trace"), "t"));
  must(linux::sys::unlinkat(Fd{AT_FDCWD}, (scratch / "gone").c_str(), AT_REMOVEDIR));
  BOOST_TEST(must_fail(recording.finish()).starts_with("no timeline: " + scratch / "gone/trace"));
}

BOOST_AUTO_TEST_SUITE_END()
