#include <csignal>
#include <map>
#include <set>

#include "linux/base/name_table.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;
using namespace std::string_literals;

BOOST_AUTO_TEST_SUITE(signal_names)

BOOST_AUTO_TEST_CASE(each_name_means_its_number_with_and_without_sig_in_any_case) {  // OP-4
  const std::map<std::string, int> names{
      {"HUP", SIGHUP},     {"INT", SIGINT},      {"QUIT", SIGQUIT},     {"ILL", SIGILL},
      {"TRAP", SIGTRAP},   {"ABRT", SIGABRT},    {"IOT", SIGIOT},       {"BUS", SIGBUS},
      {"FPE", SIGFPE},     {"KILL", SIGKILL},    {"USR1", SIGUSR1},     {"SEGV", SIGSEGV},
      {"USR2", SIGUSR2},   {"PIPE", SIGPIPE},    {"ALRM", SIGALRM},     {"TERM", SIGTERM},
      {"CHLD", SIGCHLD},   {"CLD", SIGCHLD},     {"CONT", SIGCONT},     {"STOP", SIGSTOP},
      {"TSTP", SIGTSTP},   {"TTIN", SIGTTIN},    {"TTOU", SIGTTOU},     {"URG", SIGURG},
      {"XCPU", SIGXCPU},   {"XFSZ", SIGXFSZ},    {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF},
      {"WINCH", SIGWINCH}, {"IO", SIGIO},        {"POLL", SIGPOLL},     {"PWR", SIGPWR},
      {"SYS", SIGSYS},     {"STKFLT", SIGSTKFLT}};
  for (const auto& [name, number] : names) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    for (const std::string& text : {name, "SIG" + name, lower, "sig" + lower, "Sig" + lower}) {
      const auto parsed = parse_signal(text);
      BOOST_CHECK_MESSAGE(parsed && *parsed == number, text);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_listed_names_are_those_of_different_signals) {
  std::set<int> numbers;
  for (const std::string_view name : ocirun::linux::signal_names()) {
    const auto parsed = parse_signal(name);
    BOOST_REQUIRE_MESSAGE(parsed, name);
    BOOST_TEST(numbers.insert(*parsed).second, name);
  }
  BOOST_TEST(numbers.size() == 33U);  // 1 to 31, and the first and last of the real-time ones
}

BOOST_AUTO_TEST_CASE(numbers_are_taken_from_zero_to_the_last_signal) {
  for (int number = 0; number <= SIGRTMAX; ++number)
    BOOST_TEST(must(parse_signal(std::to_string(number))) == number);
}

BOOST_AUTO_TEST_CASE(real_time_signals_are_counted_from_either_end) {
  BOOST_TEST(must(parse_signal("RTMIN")) == SIGRTMIN);
  BOOST_TEST(must(parse_signal("SIGRTMIN+3")) == SIGRTMIN + 3);  // systemd's halt
  BOOST_TEST(must(parse_signal("sigrtmin+0")) == SIGRTMIN);
  BOOST_TEST(must(parse_signal("RTMAX")) == SIGRTMAX);
  BOOST_TEST(must(parse_signal("SIGRTMAX-1")) == SIGRTMAX - 1);
  const int span = SIGRTMAX - SIGRTMIN;
  BOOST_TEST(must(parse_signal("RTMIN+" + std::to_string(span))) == SIGRTMAX);
  BOOST_TEST(must(parse_signal("RTMAX-" + std::to_string(span))) == SIGRTMIN);
  BOOST_TEST(!parse_signal("RTMIN+" + std::to_string(span + 1)));
  BOOST_TEST(!parse_signal("RTMAX-" + std::to_string(span + 1)));
}

BOOST_AUTO_TEST_CASE(what_is_no_signal_is_refused_with_what_is_allowed) {
  for (const std::string& text : {""s,
                                  "SIG"s,
                                  "SIGSIGTERM"s,
                                  "TERMINATE"s,
                                  "-9"s,
                                  "-1"s,
                                  "65"s,
                                  "999"s,
                                  "2147483648"s,
                                  "9 "s,
                                  " 9"s,
                                  "+9"s,
                                  "0x9"s,
                                  "9.0"s,
                                  "SIG9"s,
                                  "TERM\n"s,
                                  "TERM\0"s,
                                  "\0"s,
                                  "KILL KILL"s,
                                  "RTMIN+"s,
                                  "RTMIN-1"s,
                                  "RTMAX+1"s,
                                  "RTMIN+x"s,
                                  "RTMIN+-1"s,
                                  "RTMAX--1"s,
                                  "RTMIN+ 1"s,
                                  "RTMIN+1x"s,
                                  "RTMIN+2147483647"s,
                                  "RTMAX-2147483647"s,
                                  "RTMIN+2147483613"s,
                                  "RTMIN+4294967296"s,
                                  "RTMAX-99999999999"s,
                                  "RT"s}) {
    const auto parsed = parse_signal(text);
    BOOST_CHECK_MESSAGE(!parsed, "\"" << text << "\" was read as " << (parsed ? *parsed : 0));
    if (!parsed) BOOST_TEST(parsed.error().message().find("SIGKILL") != std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()
