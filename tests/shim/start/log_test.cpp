#include "shim/start/log.hpp"

#include <fcntl.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;
using namespace std::chrono_literals;

namespace {

struct LogScene {
  linux::Pipe pipe = must(linux::make_pipe());

  Log log(bool debug) {
    ::fcntl(pipe.writer.get(), F_SETFL, O_NONBLOCK);
    return {std::move(pipe.writer), debug};
  }
  /// The lines, without their times.
  std::string lines() const {
    std::string text = must(linux::sys::read_all(pipe.reader, 1 << 20));
    for (std::size_t at = 0; (at = text.find("time=\"20", at)) != std::string::npos;)
      text.erase(at, std::string_view("time=\"2026-11-30T02:56:56.123456789Z\" ").size());
    return text;
  }
};

const ttrpc::Answer kDone = "";
const ttrpc::Answer kMissing = ttrpc::answer_with(ttrpc::Code::kNotFound, "no task a");
const ttrpc::Answer kFailed =
    ttrpc::answer_with(ttrpc::Code::kUnknown, "\"/bin/a\": it\nis missing");

void call_all(const Log& log) {
  log.call("Start", 1'500us, kDone);
  log.call("State", 10us, kMissing);
  log.call("Create", 2ms, kFailed);
}

constexpr std::string_view kFailure =
    "level=error msg=\"Create took 2.000 ms and failed: \\\"/bin/a\\\": it\\nis missing\" "
    "runtime=io.containerd.ocirun.v2\n";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(the_log, LogScene)

BOOST_AUTO_TEST_CASE(a_failure_of_the_runtime_is_told) {
  call_all(log(false));
  BOOST_TEST(lines() == kFailure);
}

BOOST_AUTO_TEST_CASE(each_call_is_told_for_debugging) {
  call_all(log(true));
  const std::string told = lines();
  BOOST_TEST(told.starts_with("level=debug msg=\"Start took 1.500 ms\" runtime="));
  BOOST_TEST(told.contains("level=debug msg=\"State took 0.010 ms and failed: no task a\""));
  BOOST_TEST(told.ends_with(kFailure));
}

BOOST_AUTO_TEST_CASE(a_line_is_written_whole_or_not_at_all) {
  {
    const Log full = log(true);
    const ttrpc::Answer long_one =
        ttrpc::answer_with(ttrpc::Code::kUnknown, "{}", std::string(100'000, '\n'));
    for (int i = 0; i < 100; ++i) full.call("Create", 1ms, long_one);
  }
  const std::string told = lines();
  BOOST_TEST(told.size() > 40'000U);
  BOOST_TEST(told.ends_with("runtime=io.containerd.ocirun.v2\n"));
}

BOOST_AUTO_TEST_CASE(without_a_reader_nothing_is_told) {
  call_all(Log(UniqueFd(), true));
  pipe.writer.reset();
  BOOST_TEST(lines() == "");
}

BOOST_AUTO_TEST_SUITE_END()
