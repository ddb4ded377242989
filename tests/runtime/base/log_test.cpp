#include "runtime/base/log.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

GlobalOptions logging_to(std::string file, LogFormat format, LogLevel level = LogLevel::kInfo) {
  GlobalOptions options;
  options.log = std::move(file);
  options.log_format = format;
  options.log_level = level;
  return options;
}

/// Runs `body` in a child and returns the text that it writes to stderr.
template <typename Callable>
std::string stderr_of(Callable&& body) {
  const Scratch scratch;
  const std::string file = scratch.file("stderr", "");
  BOOST_TEST(run_in_child(0, [&] {
               const UniqueFd output(::open(file.c_str(), O_WRONLY | O_APPEND));
               const UniqueFd old(::dup(2));
               ::dup2(output.get(), 2);
               body();
               ::dup2(old.get(), 2);
             }) == 0);
  return slurp(file);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(logging)

BOOST_AUTO_TEST_CASE(errors_go_to_the_log_and_to_stderr) {  // as engines rely on
  const Scratch scratch;
  const std::string file = scratch / "log.json";
  const std::string printed = stderr_of([&] {
    must(Log::open(logging_to(file, LogFormat::kJson))).error("create web1: \"it\" failed");
  });
  BOOST_TEST(printed.find("create web1: \"it\" failed") != std::string::npos);
  const std::string logged = slurp(file);
  BOOST_TEST(logged.find(R"("level":"error")") != std::string::npos);
  BOOST_TEST(logged.find(R"("msg":"create web1: \"it\" failed")") != std::string::npos);
  BOOST_TEST(std::ranges::count(logged, '\n') == 1);  // podman reads one object
  BOOST_TEST(mode_of(file) == 0644);
}

// Engines read stdout and stderr of `state` and `ps` as one text, so that only errors may go to
// stderr.
BOOST_AUTO_TEST_CASE(warnings_stay_out_of_stderr_when_there_is_a_log) {
  const Scratch scratch;
  const std::string file = scratch / "log";
  BOOST_TEST(stderr_of([&] {
               const Log log = must(Log::open(logging_to(file, LogFormat::kText)));
               log.warn("careful");
               log.info("by the way");
             }).empty());
  BOOST_TEST(slurp(file).find("careful") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(each_line_is_one_object_whatever_the_message_holds) {
  const Scratch scratch;
  const std::string file = scratch / "log.json";
  stderr_of([&] {
    const Log log = must(Log::open(logging_to(file, LogFormat::kJson)));
    log.error("two\nlines \\ and \"quotes\" \x01 \xff\xfe");
    log.error("second");
  });
  const std::string text = slurp(file);
  BOOST_TEST(std::ranges::count(text, '\n') == 2);
  for (const char c : text) BOOST_TEST((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  BOOST_TEST(text.find('\xff') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_text_line_is_one_line_too) {
  const Scratch scratch;
  const std::string file = scratch / "log";
  stderr_of([&] {
    must(Log::open(logging_to(file, LogFormat::kText))).error("two\nlines \"x\" level=info");
  });
  const std::string text = slurp(file);
  BOOST_TEST(std::ranges::count(text, '\n') == 1);
  BOOST_TEST(text.starts_with("time=\""));
  BOOST_TEST(text.find("level=error msg=\"two\\nlines \\\"x\\\" level=info\"") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_level_filters_what_is_written) {
  const Scratch scratch;
  const LogLevel levels[] = {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning,
                             LogLevel::kError};
  for (std::size_t least = 0; least < 4; ++least) {
    const std::string file = scratch / std::to_string(least);
    stderr_of([&] {
      const Log log = must(Log::open(logging_to(file, LogFormat::kText, levels[least])));
      log.debug("0");
      log.info("1");
      log.warn("2");
      log.error("3");
    });
    for (std::size_t level = 0; level < 4; ++level)
      BOOST_TEST((slurp(file).find("msg=\"" + std::to_string(level)) != std::string::npos) ==
                 (level >= least));
  }
}

BOOST_AUTO_TEST_CASE(several_commands_append_to_one_file) {
  const Scratch scratch;
  const std::string file = scratch.file("log", "from the shim\n");
  stderr_of([&] {
    for (int i = 0; i < 3; ++i) must(Log::open(logging_to(file, LogFormat::kText))).error("again");
  });
  const std::string text = slurp(file);
  BOOST_TEST(text.starts_with("from the shim\n"));
  BOOST_TEST(std::ranges::count(text, '\n') == 4);
}

BOOST_AUTO_TEST_CASE(without_a_file_all_goes_to_stderr) {
  const std::string text = stderr_of([] {
    const Log log = must(Log::open(logging_to("", LogFormat::kText)));
    log.warn("careful");
    log.debug("quiet");
  });
  BOOST_TEST(text.find("careful") != std::string::npos);
  BOOST_TEST(text.find("quiet") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_log_that_cannot_be_opened_is_an_error_that_names_it) {
  const Scratch scratch;
  const auto missing = Log::open(logging_to(scratch / "no/such/log", LogFormat::kText));
  BOOST_REQUIRE(!missing);
  BOOST_TEST(missing.error().number() == ENOENT);
  BOOST_TEST(missing.error().message().find("no/such/log") != std::string::npos);
  BOOST_TEST(!Log::open(logging_to(scratch.path(), LogFormat::kText)));
}

BOOST_AUTO_TEST_CASE(a_full_disk_does_not_fail_the_command) {
  const std::string text = stderr_of(
      [] { must(Log::open(logging_to("/dev/full", LogFormat::kJson))).error("still told"); });
  BOOST_TEST(text.find("still told") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
