#include "shim/ttrpc/client.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/shim/ttrpc/raw_peer.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;
using ttrpc::Answer;
using ttrpc::Code;
using ttrpc::FrameType;

namespace {

/// A client, and a server whose answers the test gives.
struct ClientScene : LoopScene {
  Scratch scratch;
  std::string path = scratch / "s";
  UniqueFd listener = listen_at(path);
  ttrpc::Client client{loop, "unix://" + path};
  std::optional<Answer> answer;

  Async<> call_to_answer(std::string payload) {
    answer.reset();
    Answer given = co_await client.call("test.Service", "Method", std::move(payload));
    answer.emplace(std::move(given));
  }
  Async<bool> is_answered() {
    return comes([this] { return answer.has_value(); });
  }
  Async<RawPeer> accepted() {
    const bool has_come =
        co_await is_ready_within(loop, listener, EPOLLIN, std::chrono::seconds(kHangSeconds));
    BOOST_TEST(has_come);
    UniqueFd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    co_return RawPeer{*this, std::move(socket), {}};
  }
  /// Begins a call, and has `bytes` as the server's answer to it, after which the server closes the
  /// connection.
  Async<> have_answer(std::string bytes) {
    go(call_to_answer("payload"));
    RawPeer peer = co_await accepted();
    const std::optional<ttrpc::Frame> request = co_await peer.next();
    BOOST_TEST(request.has_value());
    co_await peer.send(std::move(bytes));
    peer.socket.reset();
    const bool has_answer = co_await is_answered();
    BOOST_TEST(has_answer);
    if (!has_answer) answer.emplace("hangs");
  }
  void is_failure(Code code, std::string_view text) const {
    BOOST_TEST(!*answer);
    if (*answer) return;
    BOOST_TEST((answer->error().code == code));
    BOOST_TEST(answer->error().message.contains(text), answer->error().message);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ttrpc_client, ClientScene)

BOOST_AUTO_TEST_CASE(calls_go_over_one_connection_each_on_a_stream_of_its_own) {
  run([&] -> Async<> {
    go(call_to_answer("first"));
    RawPeer peer = co_await accepted();
    const std::optional<ttrpc::Frame> frame = co_await peer.next();
    BOOST_TEST(frame->header.stream == 1U);
    BOOST_TEST(int{frame->header.type} == 1);
    const auto request = Received<Shim__Request>::read(frame->message);
    BOOST_TEST(std::string((*request)->service) == "test.Service");
    BOOST_TEST(std::string((*request)->method) == "Method");
    BOOST_TEST(bytes_of((*request)->payload) == "first");
    co_await peer.send(response_frame(1, "answer"));
    co_await is_answered();
    BOOST_TEST(answer->value() == "answer");
    go(call_to_answer("second"));
    const std::optional<ttrpc::Frame> second = co_await peer.next();
    BOOST_TEST(second->header.stream == 3U);
    co_await peer.send(frame_of(FrameType::kResponse, 3, ""));
    co_await is_answered();
    BOOST_TEST(answer->value() == "");
  });
}

BOOST_AUTO_TEST_CASE(an_answer_of_another_stream_is_skipped) {
  run([&] -> Async<> {
    co_await have_answer(response_frame(9, "late") + response_frame(0, "none") +
                         response_frame(1, "right"));
    BOOST_TEST(answer->value() == "right");
  });
}

BOOST_AUTO_TEST_CASE(an_answer_that_comes_byte_by_byte_is_read) {
  run([&] -> Async<> {
    go(call_to_answer("payload"));
    RawPeer peer = co_await accepted();
    for (const char byte : response_frame(1, "answer")) {
      BOOST_TEST(!answer);
      co_await peer.send(std::string(1, byte));
      co_await let_work(1);
    }
    co_await is_answered();
    BOOST_TEST(answer->value() == "answer");
  });
}

BOOST_AUTO_TEST_CASE(a_failure_of_the_server_has_its_code_and_text) {
  run([&] -> Async<> {
    co_await have_answer(response_frame(1, "", 6, "it is there"));
    is_failure(Code::kAlreadyExists, "it is there");
  });
}

BOOST_AUTO_TEST_CASE(a_server_that_is_away_is_unavailable) {
  run([&] -> Async<> {
    listener.reset();
    co_await call_to_answer("payload");
    is_failure(Code::kUnavailable, path);
    ::unlink(path.c_str());
    co_await call_to_answer("payload");
    is_failure(Code::kUnavailable, path);
    listener = listen_at(path);
    co_await have_answer(response_frame(1, "back"));
    BOOST_TEST(answer->value() == "back");
  });
}

BOOST_AUTO_TEST_CASE(after_a_server_that_closes_within_an_answer_a_call_connects_again) {
  run([&] -> Async<> {
    for (const std::size_t length : {0U, 5U, 12U}) {
      co_await have_answer(response_frame(1, "answer").substr(0, length));
      is_failure(Code::kUnavailable, "does not answer");
    }
    co_await have_answer(response_frame(1, "again"));
    BOOST_TEST(answer->value() == "again");
  });
}

BOOST_AUTO_TEST_CASE(after_a_server_that_has_closed_meanwhile_the_second_call_connects_again) {
  run([&] -> Async<> {
    co_await have_answer(response_frame(1, "first"));
    BOOST_TEST(answer->value() == "first");
    co_await call_to_answer("payload");
    is_failure(Code::kUnavailable, path);
    co_await have_answer(response_frame(1, "third"));
    BOOST_TEST(answer->value() == "third");
  });
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_no_response_is_a_failure) {
  run([&] -> Async<> {
    co_await have_answer(frame_of(FrameType::kResponse, 1, "\xff\xff"));
    is_failure(Code::kUnknown, "no response");
  });
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_too_long_is_no_success) {
  run([&] -> Async<> {
    const std::string too_long(ttrpc::kMostMessage + 1, 'm');
    const std::string bytes = frame_of(FrameType::kResponse, 1, too_long);
    co_await have_answer(bytes.substr(0, ttrpc::kHeaderSize));
    BOOST_TEST(!*answer);
  });
}

BOOST_AUTO_TEST_CASE(a_request_larger_than_the_buffer_of_the_socket_is_sent) {
  run([&] -> Async<> {
    const std::string payload(3'000'000, 'p');
    go(call_to_answer(payload));
    RawPeer peer = co_await accepted();
    const std::optional<ttrpc::Frame> frame = co_await peer.next();
    const auto request = Received<Shim__Request>::read(frame->message);
    BOOST_TEST((bytes_of((*request)->payload) == payload));
    co_await peer.send(response_frame(1, "answer"));
    co_await is_answered();
    BOOST_TEST(answer->value() == "answer");
  });
}

BOOST_AUTO_TEST_CASE(a_path_that_is_too_long_for_a_socket_is_unavailable) {
  ttrpc::Client other(loop, scratch / std::string(108, 's'));
  run([&] -> Async<> {
    const Answer given = co_await other.call("test.Service", "Method", "");
    BOOST_TEST((given.error().code == Code::kUnavailable));
  });
}

BOOST_AUTO_TEST_SUITE_END()
