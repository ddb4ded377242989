#include "criu/request/criu_log.hpp"

#include <fmt/core.h>

#include <boost/test/unit_test.hpp>

using namespace ocirun::runtime;

BOOST_AUTO_TEST_SUITE(criu_log)

BOOST_AUTO_TEST_CASE(the_last_errors_of_a_log_are_quoted_and_something_helps) {
  constexpr std::string_view kLog =
      "(00.1) Warn  (criu/a.c:1): Error is not here\n"
      "(00.2) Error (criu/sk-inet.c:189): inet: Connected TCP socket, consider using\x1b[1m\n"
      "(00.3) Error (criu/cr-dump.c:1): Dump files (pid: 9) failed with -1\n"
      "(00.4) Error (criu/cr-dump.c:2): Dumping FAILED.\n";
  BOOST_TEST(last_errors(kLog) == "inet: Connected TCP socket, consider using\\x1b[1m");
  BOOST_TEST(advice_for(kLog).find("--tcp-established") != std::string_view::npos);
  BOOST_TEST(last_errors("") == "");
  BOOST_TEST(advice_for("(00.1) Warn (x): file locks") == "");
  BOOST_TEST(advice_for("(00.1) Error (criu/tty.c:1): tty: Found slave peer index 0 without "
                        "correspond master peer")
                 .starts_with("give --shell-job"));
  BOOST_TEST(advice_for("(00.1) Error (criu/files-reg.c:1): Can't create link remap for /tmp/one. "
                        "Use link-remap option.")
                 .starts_with("give --link-remap"));
}

BOOST_AUTO_TEST_CASE(a_file_of_the_container_that_is_named_like_a_feature_is_no_reason) {
  const auto advice = [](std::string_view error) {
    return advice_for(fmt::format("(00.1) Error (criu/files-reg.c:1): {}\n", error));
  };
  BOOST_TEST(advice("Can't open file srv/rseq/vdso/inotify/iptables on restore: No such file")
                 .starts_with("the root file system or a bind lacks a file"));
  BOOST_TEST(advice("Can't open file srv/log on restore: Read-only file system")
                 .starts_with("the host is read-only for criu"));
  BOOST_TEST(advice_for("pie: 7: Error (criu/pie/parasite-vdso.c:280): Can't find it\n")
                 .starts_with("this criu is too old"));
}

BOOST_AUTO_TEST_CASE(what_criu_goes_on_after_is_not_quoted) {
  BOOST_TEST(last_errors("(00.1) Error (criu/tun.c:85): tun: Unable to create tun: No such file\n"
                         "(00.2) Error (criu/mount.c:1): mnt: what matters\n"
                         "(00.3) Error (criu/cr-dump.c:2): Dumping FAILED.\n") ==
             "mnt: what matters");
}

BOOST_AUTO_TEST_SUITE_END()
