#include "runtime/protocol/start_gate.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "runtime/protocol/protocol.hpp"
#include "runtime/state/store.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

/// The two ends of a connection like one to start.sock.
struct Line {
  UniqueFd start, init;
};
Line line() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error("socketpair");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void say(const UniqueFd& socket, std::string_view bytes) {
  BOOST_REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(bytes.size()));
}

std::string failure(const Error& error) { return kGateFailed + error_bytes(error); }

Result<void> awaited(Fd connection) {
  return await_exec(connection, {.warn = [](std::string_view) {},
                                 .on_silence = [](auto, bool) -> Result<void> { return {}; }});
}

/// A state directory with a listening start.sock, and a child of the test as the init behind it.
class Gate {
 public:
  Gate()
      : directory_(must(must(Store::open(HostPath(scratch_.path()), MissingRoot::kIsAnError))
                            .create(must(ContainerId::parse("c"))))),
        listener_(must(directory_.listen_for_start())) {}
  ~Gate() {
    if (init_ == 0) return;
    ::kill(init_, SIGKILL);
    ::waitpid(init_, nullptr, 0);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  template <typename Callable>
  void fork_init(Callable&& body, linux::SendBy send_by = linux::SendBy::kSocketCall) {
    init_ = ::fork();
    if (init_ != 0) {
      listener_.reset();
      return;
    }
    StartGate gate(std::move(listener_), send_by);
    if (!gate.wait()) ::_exit(90);
    body(gate);
    ::_exit(91);
  }
  UniqueFd connect() const { return must(directory_.connect_to_start()); }
  int init() const { return init_; }
  /// Whether init has executed a program. Asks /proc/PID/exe, which execve(2) changes before it
  /// closes the socket; `comm` changes after that.
  bool has_executed() const {
    return std::filesystem::read_symlink("/proc/" + std::to_string(init_) + "/exe") !=
           std::filesystem::read_symlink("/proc/self/exe");
  }
  int listener() const { return listener_.get(); }
  const Scratch& scratch() const { return scratch_; }

 private:
  Scratch scratch_;
  StateDirectory directory_;
  UniqueFd listener_;
  pid_t init_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(start_gate)

BOOST_AUTO_TEST_CASE(the_end_of_the_stream_after_the_announcement_is_the_proof_of_execve) {
  Line both = line();
  say(both.init, "E");
  both.init.reset();
  BOOST_TEST(awaited(both.start).has_value());
}

BOOST_AUTO_TEST_CASE(the_end_of_the_stream_alone_is_a_dead_init) {
  Line both = line();
  both.init.reset();
  const std::string text = must_fail(awaited(both.start));
  BOOST_TEST(text.contains("before it could execute the program"), text);
}

BOOST_AUTO_TEST_CASE(inits_error_is_returned_before_and_after_the_announcement) {
  const Error error(ENOENT, std::vector<std::string>{"exec /run.sh"});
  for (const bool announced : {false, true}) {
    const Line both = line();
    if (announced) say(both.init, "E");
    say(both.init, failure(error));
    const auto outcome = awaited(both.start);
    BOOST_REQUIRE(!outcome);
    BOOST_TEST(outcome.error().number() == ENOENT);
    BOOST_TEST(outcome.error().message() == "exec /run.sh: no such file or directory");
  }
}

BOOST_AUTO_TEST_CASE(a_hook_that_lasts_is_told_and_is_no_end) {
  Line both = line();
  for (const std::string text : {"Ha hook: 10 s", "Ha hook: 20 s", "E"}) say(both.init, text);
  both.init.reset();
  std::vector<std::string> heard;
  must(await_exec(both.start, {.warn = [&](std::string_view text) { heard.emplace_back(text); },
                               .on_silence = [](auto, bool) -> Result<void> { return {}; }}));
  BOOST_TEST((heard == std::vector<std::string>{"a hook: 10 s", "a hook: 20 s"}));
}

BOOST_AUTO_TEST_CASE(init_takes_one_start_and_the_others_are_told_by_a_reset) {
  Gate gate;
  const UniqueFd first = gate.connect();
  const UniqueFd second = gate.connect();
  gate.fork_init([](const StartGate&) { ::execl("/bin/sleep", "sleep", "979", nullptr); });
  const auto outcome = awaited(second);
  BOOST_REQUIRE(!outcome);
  BOOST_TEST(outcome.error().number() == ECONNRESET);
}

BOOST_AUTO_TEST_CASE(a_start_that_does_not_read_holds_no_hook_up) {
  for (const auto send_by : {linux::SendBy::kSocketCall, linux::SendBy::kWrite}) {
    Gate gate;
    gate.fork_init(
        [](const StartGate& mine) {
          for (int i = 0; i < 10'000; ++i)
            mine.report_lasting_hook("a hook: " + std::string(1000, 'x'));
          ::execl("/bin/sleep", "sleep", "980", nullptr);
        },
        send_by);
    const UniqueFd connection = gate.connect();
    BOOST_TEST(comes_true(
        [&] { return slurp("/proc/" + std::to_string(gate.init()) + "/comm") == "sleep\n"; }));
  }
}

BOOST_AUTO_TEST_CASE(what_init_says_by_write_arrives) {  // S-5
  Gate gate;
  gate.fork_init([](const StartGate& mine) { mine.refuse(Error(ENOENT, "by write")); },
                 linux::SendBy::kWrite);
  const UniqueFd connection = gate.connect();
  const auto outcome = awaited(connection);
  BOOST_REQUIRE(!outcome);
  BOOST_TEST(outcome.error().message() == "by write: no such file or directory");
}

BOOST_AUTO_TEST_CASE(garbage_is_never_taken_for_success) {
  for (const std::string bytes : {"x", "EE", "F", "e", "Fxy"}) {
    Line both = line();
    say(both.init, bytes);
    both.init.reset();
    const auto outcome = awaited(both.start);
    BOOST_CHECK_MESSAGE(bytes == "EE" || !outcome, bytes);
  }
  Line both = line();  // a message after the announcement takes the announcement back
  say(both.init, "E");
  say(both.init, "x");
  both.init.reset();
  BOOST_TEST(!awaited(both.start));
}

BOOST_AUTO_TEST_CASE(a_reset_connection_is_a_dead_init_too) {
  Line both = line();
  say(both.start, "unread");
  both.init.reset();
  BOOST_TEST(!awaited(both.start));
}

BOOST_AUTO_TEST_CASE(an_init_that_executes_its_program_opens_the_gate) {  // OP-3
  Gate gate;
  gate.fork_init([](const StartGate& mine) {
    mine.announce_exec();
    ::execl("/bin/sleep", "sleep", "982", nullptr);
  });
  const UniqueFd connection = gate.connect();
  BOOST_TEST(awaited(connection).has_value());
  BOOST_TEST(gate.has_executed());
}

BOOST_AUTO_TEST_CASE(nothing_is_told_before_execve_has_happened) {
  Gate gate;
  gate.fork_init([](const StartGate& mine) {
    mine.announce_exec();
    ::usleep(300'000);  // an await_exec() that returns on 'E' would return before execve
    ::execl("/bin/sleep", "sleep", "981", nullptr);
  });
  const UniqueFd connection = gate.connect();
  must(awaited(connection));
  BOOST_TEST(gate.has_executed());
}

BOOST_AUTO_TEST_CASE(an_execve_that_fails_is_told_with_its_reason) {
  Gate gate;
  gate.fork_init([](const StartGate& mine) {
    mine.announce_exec();
    ::execl("/no/such/program", "x", nullptr);
    mine.refuse(Error(errno, "exec /no/such/program"));
  });
  const UniqueFd connection = gate.connect();
  BOOST_TEST(must_fail(awaited(connection)) == "exec /no/such/program: no such file or directory");
}

BOOST_AUTO_TEST_CASE(a_failure_with_much_to_say_is_told) {
  Gate gate;
  gate.fork_init([](const StartGate& mine) {
    mine.refuse(Error(0, "error running startContainer hook #0 (/h): exit status 1: " +
                             std::string(64 * 1024, 'x')));
  });
  const UniqueFd connection = gate.connect();
  const std::string text = must_fail(awaited(connection));
  BOOST_TEST(text.starts_with("error running startContainer hook #0 (/h): exit status 1: xxx"));
}

BOOST_AUTO_TEST_CASE(an_init_that_is_killed_at_the_gate_is_an_error) {
  Gate gate;
  gate.fork_init([](const StartGate&) {
    for (;;) ::pause();
  });
  const UniqueFd connection = gate.connect();
  ::kill(gate.init(), SIGKILL);
  BOOST_TEST(!awaited(connection));
}

// If `start` dies after it has connected, init goes on.
BOOST_AUTO_TEST_CASE(a_start_that_died_holds_nobody_up_and_kills_nobody) {
  Gate gate;
  const std::string record = gate.scratch() / "went-on";
  gate.fork_init([&](const StartGate& mine) {
    ::signal(SIGPIPE, SIG_DFL);
    ::usleep(100'000);
    mine.announce_exec();
    mine.refuse(Error(0, "nobody hears this"));
    std::ofstream(record) << "yes";
    ::_exit(0);
  });
  gate.connect();  // and closes the connection at once
  BOOST_TEST(comes_true([&] { return slurp(record) == "yes"; }));
}

BOOST_AUTO_TEST_CASE(init_waits_as_long_as_nobody_starts_it_and_closes_the_listener_then) {
  Gate gate;
  const std::string record = gate.scratch() / "listener";
  const int number = gate.listener();
  gate.fork_init([&](const StartGate&) {
    const bool closed = ::fcntl(number, F_GETFD) < 0;  // asked before the file takes the number
    std::ofstream(record) << (closed ? "closed" : "open");
    ::_exit(0);
  });
  ::usleep(200'000);
  BOOST_TEST(slurp(record).empty());
  const UniqueFd connection = gate.connect();
  BOOST_TEST(comes_true([&] { return slurp(record) == "closed"; }));
}

BOOST_AUTO_TEST_SUITE_END()
