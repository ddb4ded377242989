#include "shim/start/serve.hpp"

#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>

#include "shim/start/socket.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"
#include "tests/shim/ttrpc/raw_peer.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

struct ServeScene {
  Scratch scratch;
  std::string path = scratch / "s/socket";
  UniqueFd socket = must(listen_or_find(path));

  void serve_with(std::chrono::milliseconds idle_patience) {
    Setup setup;
    setup.socket = std::move(socket);
    setup.socket_path = path;
    setup.idle_patience = idle_patience;
    must(serve(std::move(setup), Log(UniqueFd(), false)));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(serving, ServeScene)

BOOST_AUTO_TEST_CASE(a_server_that_nobody_knows_ends) {
  serve_with(std::chrono::milliseconds(1));
  BOOST_CHECK_THROW(connect_to(path), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_server_without_a_task_stays_while_a_client_is_connected) {
  constexpr std::chrono::milliseconds kPatience{300};
  UniqueFd client = connect_to(path);
  bool was_there = false;
  std::jthread leaver([&] {
    std::this_thread::sleep_for(3 * kPatience);
    char byte = 0;
    was_there = ::recv(client.get(), &byte, 1, MSG_DONTWAIT) < 0;  // 0: the server has closed it
    client.reset();
  });
  serve_with(kPatience);
  leaver.join();
  BOOST_TEST(was_there);
}

BOOST_AUTO_TEST_SUITE_END()
