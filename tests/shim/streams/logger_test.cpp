#include "shim/streams/logger.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/child_test.hpp"
#include "tests/shim/streams/process_scene.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

BOOST_FIXTURE_TEST_SUITE(logging_programs, TerminalScene)

BOOST_AUTO_TEST_CASE(a_logging_program_gets_the_output_and_says_when_it_is_ready) {
  const std::string program = scratch.script("my logger",
                                             "d=${0%/*}\n"
                                             "printf '%s|' \"$@\" > \"$d/arguments\"\n"
                                             "env > \"$d/environment\"\n"
                                             "ls /proc/$$/fd > \"$d/descriptors\"\n"
                                             "exec 5>&-\n"
                                             "cat <&3 > \"$d/out\"\n"
                                             "cat <&4 > \"$d/err\"\n");
  run([&] -> Async<> {
    names.out = "binary://" + (scratch / "my%20logger") + "?name=a%26b+c&flag&x=";
    co_await start();
    BOOST_TEST(slurp(scratch / "arguments") == "name|a&b c|flag|x|");
    BOOST_TEST(slurp(scratch / "environment").contains("CONTAINER_ID=web1\n"));
    BOOST_TEST(slurp(scratch / "environment").contains("CONTAINER_NAMESPACE=k8s.io\n"));
    for (const std::string number : {"0\n", "1\n", "2\n", "3\n", "4\n", "5\n"})
      BOOST_TEST(slurp(scratch / "descriptors").contains(number));
    const std::string bytes = unlike_bytes(300'000);
    co_await write_slowly(out, bytes);
    co_await write_slowly(err, "to err");
    out.reset();
    err.reset();
    co_await drains();  // when the program has ended
    BOOST_TEST((slurp(scratch / "out") == bytes));
    BOOST_TEST(slurp(scratch / "err") == "to err");
    BOOST_TEST(children_of_this_process() == "");
  });
}

BOOST_AUTO_TEST_CASE(a_logging_program_of_the_second_scheme_says_by_a_byte_that_it_is_ready) {
  scratch.script("says", "printf x >&5\nexec 5>&-\ncat <&3 >${0%/*}/out\n");
  scratch.script("fails", "exec 5>&-\nexit 3\n");
  run([&] -> Async<> {
    names.out = "binary-v2://" + (scratch / "fails");
    co_await open();
    BOOST_TEST(error == names.out +
                            ": the logging program was not ready in 10 s, or has failed "
                            "before");
    error.clear();
    names.out = "binary-v2://" + (scratch / "says");
    co_await start();
    co_await write_slowly(out, "to out");
    out.reset();
    err.reset();
    co_await drains();
    BOOST_TEST(slurp(scratch / "out") == "to out");
  });
}

BOOST_AUTO_TEST_CASE(a_logging_program_must_exist_and_have_an_absolute_path) {
  run([&] -> Async<> {
    names.out = "binary://" + (scratch / "none");
    co_await open();
    BOOST_TEST(error.contains("start the logging program " + (scratch / "none")));
    names.out = "binary://logger?a=b";
    co_await open();
    BOOST_TEST(error == "binary://logger?a=b: the path of a logging program must be absolute");
    BOOST_TEST(children_of_this_process() == "");
  });
}

BOOST_AUTO_TEST_CASE(a_logging_program_gets_what_a_terminal_shows) {
  scratch.script("logger", "exec 5>&-\ncat <&3 >${0%/*}/out\n");
  run([&] -> Async<> {
    co_await start_terminal("binary://" + (scratch / "logger"));
    co_await write_slowly(client_in, "typed");
    const std::string typed = co_await read_slowly(slave, 5);
    BOOST_TEST(typed == "typed");
    co_await write_slowly(slave, "shown");
    slave.reset();
    in.reset();
    out.reset();
    err.reset();
    co_await drains();
    BOOST_TEST(slurp(scratch / "out") == "shown");
    BOOST_TEST(children_of_this_process() == "");
  });
}

BOOST_AUTO_TEST_SUITE_END()
