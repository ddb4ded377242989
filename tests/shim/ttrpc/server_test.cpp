#include "shim/ttrpc/server.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/descriptors.hpp"
#include "tests/shim/ttrpc/raw_peer.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;
using ttrpc::Answer;
using ttrpc::Code;
using ttrpc::FrameType;

namespace {

struct ServerScene : LoopScene {
  Scratch scratch;
  std::string path = scratch / "s";
  Notice release{loop};  // of the calls that are held
  int begun = 0, ended = 0;
  std::optional<ttrpc::Server> server;

  ServerScene() {
    server.emplace(loop, listen_at(path),
                   [this](std::string service, std::string method, std::string payload) {
                     return handle(std::move(service), std::move(method), std::move(payload));
                   });
    must(server->start());
  }
  RawPeer new_client() { return {*this, connect_to(path), {}}; }

  Async<Answer> handle(std::string service, std::string method, std::string payload) {
    ++begun;
    if (method == "Hold") co_await release;
    ++ended;
    if (service != "test.Service")
      co_return ttrpc::answer_with(Code::kUnimplemented, "service {}", service);
    if (method == "Large") co_return std::string(std::stoul(payload), 'x');
    if (method == "Fail") co_return ttrpc::answer_with(Code::kNotFound, "no {}", payload);
    co_return method + " " + payload;
  }
  /// A call of a client of its own is answered.
  Async<> serves_others() {
    RawPeer other = new_client();
    co_await other.send(request_frame(1, "Echo", "other"));
    const Said said = co_await other.hear();
    BOOST_TEST(said.payload == "Echo other");
  }
};

void check(const Said& said, std::uint32_t stream, int code, std::string_view begin_of_text) {
  BOOST_TEST(said.stream == stream);
  BOOST_TEST(said.code == code);
  BOOST_TEST(said.text.starts_with(begin_of_text), said.text);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ttrpc_server, ServerScene)

BOOST_AUTO_TEST_CASE(a_call_is_answered_on_its_stream) {
  run([&] -> Async<> {
    RawPeer client = new_client();
    co_await client.send(request_frame(1, "Echo", "payload"));
    const Said said = co_await client.hear();
    check(said, 1, 0, "");
    BOOST_TEST(said.payload == "Echo payload");
    co_await client.send(request_frame(0xffffffff, "Echo"));
    const Said second = co_await client.hear();
    check(second, 0xffffffff, 0, "");
    BOOST_TEST(second.payload == "Echo ");
  });
}

BOOST_AUTO_TEST_CASE(a_request_that_comes_byte_by_byte_is_answered) {
  run([&] -> Async<> {
    RawPeer client = new_client();
    for (const char byte : request_frame(1, "Echo", "payload")) {
      BOOST_TEST(begun == 0);
      co_await client.send(std::string(1, byte));
      co_await let_work(1);
    }
    const Said said = co_await client.hear();
    BOOST_TEST(said.payload == "Echo payload");
  });
}

BOOST_AUTO_TEST_CASE(of_two_calls_the_one_that_is_ready_first_is_answered_first) {
  run([&] -> Async<> {
    RawPeer client = new_client();
    co_await client.send(request_frame(1, "Hold", "a") + request_frame(3, "Echo", "b"));
    const Said first = co_await client.hear();
    check(first, 3, 0, "");
    BOOST_TEST(first.payload == "Echo b");
    BOOST_TEST(begun - ended == 1);
    release.give();
    const Said second = co_await client.hear();
    check(second, 1, 0, "");
    BOOST_TEST(second.payload == "Hold a");
  });
}

BOOST_AUTO_TEST_CASE(a_failure_has_its_code_and_text) {
  run([&] -> Async<> {
    RawPeer client = new_client();
    co_await client.send(request_frame(1, "Fail", "task"));
    const Said said = co_await client.hear();
    check(said, 1, 5, "no task");
    BOOST_TEST(said.payload == "");
  });
}

BOOST_AUTO_TEST_CASE(after_what_is_no_call_the_connection_goes_on) {
  run([&] -> Async<> {
    RawPeer client = new_client();
    co_await client.send(request_frame(2, "Echo"));
    const Said even = co_await client.hear();
    check(even, 2, 3, "stream 2: a client's streams are odd");
    co_await client.send(frame_of(FrameType::kRequest, 3, "\xff\xff\xff"));
    const Said undecodable = co_await client.hear();
    check(undecodable, 3, 3, "this is no request");
    BOOST_TEST(begun == 0);
    const std::string too_long(ttrpc::kMostMessage + 1, 'm');
    co_await client.send(frame_of(FrameType::kRequest, 5, too_long));
    const Said long_message = co_await client.hear();
    check(long_message, 5, 8, "the message has 4194305 bytes, at most 4194304");
    co_await client.send(request_frame(7, "Echo", "", "other.Service"));
    const Said unknown = co_await client.hear();
    check(unknown, 7, 12, "service other.Service");
    co_await client.send(frame_of(FrameType::kResponse, 9, "") +
                         frame_of(FrameType::kData, 9, "data") + frame_of(FrameType{77}, 9, ""));
    co_await client.send(request_frame(11, "Echo", "payload"));
    const Said said = co_await client.hear();
    check(said, 11, 0, "");
    BOOST_TEST(said.payload == "Echo payload");
  });
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_too_long_is_a_failure) {
  run([&] -> Async<> {
    RawPeer client = new_client();
    co_await client.send(request_frame(1, "Large", "4194304"));
    const Said said = co_await client.hear();
    check(said, 1, 8, "the answer has 4194309 bytes, at most 4194304");
    co_await client.send(request_frame(3, "Large", "4194299"));  // and five bytes around it
    const Said largest = co_await client.hear();
    check(largest, 3, 0, "");
    BOOST_TEST(largest.payload.size() == 4194299U);
  });
}

BOOST_AUTO_TEST_CASE(a_client_may_leave_while_its_call_is_worked_on) {
  run([&] -> Async<> {
    {
      RawPeer client = new_client();
      co_await client.send(request_frame(1, "Hold") + request_frame(3, "Hold"));
      const bool is_held = co_await comes([&] { return begun == 2; });
      BOOST_TEST(is_held);
    }
    co_await serves_others();
    release.give();
    const bool has_ended = co_await comes([&] { return ended == begun; });
    BOOST_TEST(has_ended);
    co_await serves_others();
  });
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_within_a_frame_is_forgotten) {
  const Descriptors before = open_descriptors();
  run([&] -> Async<> {
    {
      RawPeer client = new_client();
      co_await client.send(request_frame(1, "Echo", "payload").substr(0, 15));
      co_await let_work();
    }
    const bool is_closed = co_await comes([&] { return leaked_since(before).empty(); });
    BOOST_TEST(is_closed);
    BOOST_TEST(begun == 0);
    co_await serves_others();
  });
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_read_is_not_read_and_others_are_served) {
  run([&] -> Async<> {
    RawPeer client = new_client();
    for (std::uint32_t stream : {1U, 3U, 5U}) {
      co_await client.send(request_frame(stream, "Large", "4000000"));
      const bool has_ended =
          co_await comes([&] { return ended == static_cast<int>(stream / 2 + 1); });
      BOOST_TEST(has_ended);
    }
    co_await client.send(request_frame(7, "Echo", "late"));
    co_await serves_others();
    co_await let_work(20);
    BOOST_TEST(begun == 4);  // the three, and that of the other client
    for (std::uint32_t stream : {1U, 3U, 5U}) {
      const Said said = co_await client.hear();
      check(said, stream, 0, "");
      BOOST_TEST(said.payload.size() == 4000000U);
    }
    const Said said = co_await client.hear();
    BOOST_TEST(said.payload == "Echo late");
  });
}

BOOST_AUTO_TEST_CASE(a_client_that_never_reads_may_leave) {
  const Descriptors before = open_descriptors();
  run([&] -> Async<> {
    {
      RawPeer client = new_client();
      for (std::uint32_t stream : {1U, 3U, 5U, 7U})
        co_await client.send(request_frame(stream, "Large", "4000000"));
      const bool are_made = co_await comes([&] { return ended >= 3; });
      BOOST_TEST(are_made);
    }
    const bool is_closed = co_await comes([&] { return leaked_since(before).empty(); });
    BOOST_TEST(is_closed);
    co_await serves_others();
  });
}

BOOST_AUTO_TEST_CASE(two_hundred_clients_are_served_at_once) {
  const Descriptors before = open_descriptors();
  run([&] -> Async<> {
    {
      std::vector<RawPeer> clients;
      for (int i = 0; i < 200; ++i) {
        clients.push_back(new_client());
        co_await clients.back().send(request_frame(1, "Hold", std::to_string(i)));
      }
      const bool are_held = co_await comes([&] { return begun == 200; });
      BOOST_TEST(are_held);
      release.give();
      for (std::size_t i = 0; i < clients.size(); ++i) {
        const Said said = co_await clients[i].hear();
        BOOST_TEST(said.payload == "Hold " + std::to_string(i));
      }
    }
    const bool are_closed = co_await comes([&] { return leaked_since(before).empty(); });
    BOOST_TEST(are_closed);
  });
}

BOOST_AUTO_TEST_CASE(a_server_that_ends_closes_its_connections_and_drops_the_answers) {
  run([&] -> Async<> {
    RawPeer client = new_client();
    co_await client.send(request_frame(1, "Hold"));
    const bool is_held = co_await comes([&] { return begun == 1; });
    BOOST_TEST(is_held);
    server.reset();
    const Said said = co_await client.hear();
    BOOST_TEST(said.code == -1);
    release.give();
    const bool has_ended = co_await comes([&] { return ended == 1; });
    BOOST_TEST(has_ended);
    co_await let_work();
  });
}

BOOST_AUTO_TEST_SUITE_END()
