#include "shim/start/socket.hpp"

#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

bool listens(Fd socket) {
  int answer = 0;
  socklen_t size = sizeof answer;
  return ::getsockopt(socket.value, SOL_SOCKET, SO_ACCEPTCONN, &answer, &size) == 0 && answer != 0;
}

struct SocketScene {
  Scratch scratch;
  std::string path = scratch / "s/socket";
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(server_socket, SocketScene)

BOOST_AUTO_TEST_CASE(the_socket_and_its_directory_are_for_their_owner_alone) {
  const UniqueFd socket = must(listen_or_find(path));
  BOOST_TEST(listens(socket));
  BOOST_TEST(mode_of(path) == 0600);
  BOOST_TEST(mode_of(scratch / "s") == 0700);
  BOOST_TEST((::fcntl(socket.get(), F_GETFL) & O_NONBLOCK) != 0);
}

BOOST_AUTO_TEST_CASE(a_living_server_is_found_even_if_it_accepts_nothing) {
  const UniqueFd socket = must(listen_or_find(path));
  for (int i = 0; i < 200; ++i) BOOST_REQUIRE(!must(listen_or_find(path)));  // the backlog is 128
  must(remove_dead_socket(path));
  BOOST_TEST(!must(listen_or_find(path)));
}

BOOST_AUTO_TEST_CASE(the_socket_of_a_dead_server_is_replaced) {
  must(listen_or_find(path)).reset();
  BOOST_TEST(mode_of(path) == 0600);
  BOOST_TEST(listens(must(listen_or_find(path))));
}

BOOST_AUTO_TEST_CASE(the_socket_of_a_dead_server_is_removed) {
  must(listen_or_find(path)).reset();
  must(remove_dead_socket(path));
  BOOST_TEST(mode_of(path) == -1);
  must(remove_dead_socket(path));
  BOOST_TEST((scratch.names() == std::vector<std::string>{"s"}));
}

BOOST_AUTO_TEST_CASE(a_server_is_dead_though_its_child_has_the_socket_open) {
  const linux::Pipe life = must(linux::make_pipe());
  const int server = ::fork();
  if (server == 0) {
    const auto socket = listen_or_find(path);
    const int child = ::fork();
    if (child == 0) {  // ends with the test
      ::close(life.writer.get());
      char byte = 0;
      ignore(::read(life.reader.get(), &byte, 1));
    }
    ::_exit(socket && *socket ? 0 : 1);
  }
  int status = -1;
  ::waitpid(server, &status, 0);
  BOOST_TEST(status == 0);
  must(remove_dead_socket(path));
  BOOST_TEST(mode_of(path) == -1);
}

BOOST_AUTO_TEST_CASE(what_a_dead_server_has_left_beside_its_socket_is_removed) {
  const std::string name(64, 'a'), other = std::string(16, 'a') + "b";
  path = scratch / ("s/" + name);
  BOOST_TEST(scratch_prefix(path) == scratch / ("s/" + std::string(16, 'a') + "."));
  UniqueFd socket = must(listen_or_find(path));
  for (const std::string& left : {scratch_prefix(path) + "log.0", scratch_prefix(path) + "7"})
    must(linux::sys::open(left.c_str(), O_WRONLY | O_CREAT, 0600));
  must(linux::sys::open((scratch / ("s/" + other)).c_str(), O_WRONLY | O_CREAT, 0600));
  must(remove_dead_socket(path));
  BOOST_TEST(mode_of(scratch_prefix(path) + "7") == 0600);  // of a living server
  socket.reset();
  must(remove_dead_socket(path));
  BOOST_TEST(mode_of(path) == -1);
  BOOST_TEST(mode_of(scratch_prefix(path) + "log.0") == -1);
  BOOST_TEST(mode_of(scratch_prefix(path) + "7") == -1);
  BOOST_TEST(mode_of(scratch / ("s/" + other)) == 0600);
}

BOOST_AUTO_TEST_CASE(of_two_starts_at_once_one_gets_the_socket) {
  constexpr int kRounds = 50, kStarts = 4;
  for (int round = 0; round < kRounds; ++round) {
    linux::Pipe go = must(linux::make_pipe()), won = must(linux::make_pipe()),
                end = must(linux::make_pipe());
    for (int i = 0; i < kStarts; ++i) {
      if (::fork() != 0) continue;
      go.writer.reset();
      end.writer.reset();
      ignore(linux::sys::read_all(go.reader, 1));  // ends for all at once
      const auto socket = listen_or_find(path);
      const char letter = !socket ? 'e' : *socket ? 'w' : 'f';
      if (::write(won.writer.get(), &letter, 1) != 1) ::_exit(1);
      won.writer.reset();
      ignore(linux::sys::read_all(end.reader, 1));
      ::_exit(0);
    }
    won.writer.reset();
    end.reader.reset();
    go.writer.reset();
    const std::string letters = must(linux::sys::read_all(won.reader, kStarts));
    end.writer.reset();
    for (int i = 0; i < kStarts; ++i) ::wait(nullptr);
    BOOST_TEST(std::ranges::count(letters, 'w') == 1);
    BOOST_TEST(std::ranges::count(letters, 'f') == kStarts - 1);
  }
}

BOOST_AUTO_TEST_CASE(a_directory_that_others_may_write_to_is_refused) {
  BOOST_REQUIRE(::mkdir((scratch / "s").c_str(), 0700) == 0);
  BOOST_REQUIRE(::chmod((scratch / "s").c_str(), 0770) == 0);
  BOOST_TEST(must_fail(listen_or_find(path)) ==
             fmt::format("{}: must belong to user {} and be writable by no other: remove it, and "
                         "it is made anew",
                         scratch / "s", ::geteuid()));
}

BOOST_AUTO_TEST_CASE(a_path_that_is_too_long_is_refused) {
  BOOST_TEST(!listen_or_find(scratch / std::string(108, 's')));
}

BOOST_AUTO_TEST_SUITE_END()
