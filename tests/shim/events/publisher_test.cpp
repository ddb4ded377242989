#include "shim/events/publisher.hpp"

#include <boost/test/unit_test.hpp>
#include <ctime>
#include <optional>
#include <vector>

#include "shim/ttrpc/server.hpp"
#include "tests/shim/ttrpc/raw_peer.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;
using namespace std::chrono_literals;

namespace {

struct Heard {
  std::string topic, type, container_namespace, id;
  std::int64_t seconds = 0;
};

/// containerd, which may be away, and a publisher.
struct EventScene : LoopScene {
  Scratch scratch;
  std::string path = scratch / "c.ttrpc";
  std::optional<ttrpc::Server> containerd;
  std::vector<Heard> heard;
  std::string refused, calls;
  Publisher publisher{loop, path, "k8s.io"};

  void containerd_comes() {
    ::unlink(path.c_str());
    containerd.emplace(loop, listen_at(path),
                       [this](std::string service, std::string method, std::string payload) {
                         return forward(service + "/" + method, std::move(payload));
                       });
    must(containerd->start());
  }
  Async<ttrpc::Answer> forward(std::string call, std::string payload) {
    calls = call;
    const auto request = Received<Shim__ForwardRequest>::read(payload);
    const Shim__Envelope* const envelope = request ? (*request)->envelope : nullptr;
    BOOST_TEST(envelope != nullptr);
    if (envelope == nullptr) co_return std::string();
    const auto event = Received<Shim__TaskStart>::read(bytes_of(envelope->event->value));
    BOOST_TEST(event.has_value());
    if (!event) co_return std::string();
    const std::string id = (*event)->container_id;
    if (id == refused) co_return ttrpc::answer_with(ttrpc::Code::kInvalidArgument, "no {}", id);
    heard.push_back({envelope->topic, envelope->event->type_url, envelope->namespace_, id,
                     envelope->timestamp->seconds});
    co_return std::string();
  }
  void publish(const std::string& id) {
    auto event = new_message<Shim__TaskStart>();
    event.container_id = in_message(id);
    event.pid = 7;
    publisher.publish("/tasks/start", "containerd.events.TaskStart", event);
  }
  std::string ids() const {
    std::string all;
    for (const Heard& event : heard) all += event.id + " ";
    return all;
  }
  Async<> are_sent() {
    const bool is_idle = co_await comes([this] { return publisher.is_idle(); });
    BOOST_TEST(is_idle);
    co_await let_work();  // the coroutine that has sent them ends
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(events_to_containerd, EventScene)

BOOST_AUTO_TEST_CASE(events_come_in_order_in_envelopes_of_containerd) {
  run([&] -> Async<> {
    containerd_comes();
    const std::int64_t before = std::time(nullptr);
    std::string expected;
    for (int i = 0; i < 100; ++i) {
      publish("c" + std::to_string(i));
      expected += "c" + std::to_string(i) + " ";
      if (i == 50) co_await are_sent();
    }
    BOOST_TEST(!publisher.is_idle());
    co_await are_sent();
    BOOST_TEST(ids() == expected);
    BOOST_TEST(calls == "containerd.services.events.ttrpc.v1.Events/Forward");
    for (const Heard& event : heard) {
      BOOST_TEST(event.topic == "/tasks/start");
      BOOST_TEST(event.type == "containerd.events.TaskStart");
      BOOST_TEST(event.container_namespace == "k8s.io");
      BOOST_TEST(event.seconds >= before);
      BOOST_TEST(event.seconds <= std::time(nullptr));
    }
  });
}

BOOST_AUTO_TEST_CASE(events_wait_for_a_containerd_that_is_away) {
  run([&] -> Async<> {
    publish("a");
    publish("b");
    co_await let_work(50);
    publish("c");
    BOOST_TEST(!publisher.is_idle());
    containerd_comes();
    co_await are_sent();
    BOOST_TEST(ids() == "a b c ");
  });
}

BOOST_AUTO_TEST_CASE(containerd_may_leave_and_come_back) {
  run([&] -> Async<> {
    containerd_comes();
    publish("a");
    co_await are_sent();
    containerd.reset();  // its socket stays
    publish("b");
    publish("c");
    co_await let_work(10);
    containerd_comes();
    co_await are_sent();
    BOOST_TEST(ids() == "a b c ");
  });
}

BOOST_AUTO_TEST_CASE(an_event_that_was_not_answered_is_sent_again) {
  run([&] -> Async<> {
    ::unlink(path.c_str());
    UniqueFd listener = listen_at(path);
    publish("a");
    publish("b");
    {
      const bool has_come = co_await is_ready_within(loop, listener, EPOLLIN, kHangSeconds * 1s);
      BOOST_TEST(has_come);
      UniqueFd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      RawPeer peer{*this, std::move(socket), {}};
      const auto frame = co_await peer.next();
      BOOST_TEST(frame.has_value());
      listener.reset();
    }
    containerd_comes();
    co_await are_sent();
    BOOST_TEST(ids() == "a b ");
  });
}

BOOST_AUTO_TEST_CASE(a_refused_event_is_dropped) {
  run([&] -> Async<> {
    containerd_comes();
    refused = "b";
    publish("a");
    publish("b");
    publish("c");
    co_await are_sent();
    BOOST_TEST(ids() == "a c ");
  });
}

BOOST_AUTO_TEST_SUITE_END()
