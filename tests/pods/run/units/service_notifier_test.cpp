// What a supervisor tells a service manager.

#include "pods/run/units/service_notifier.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

/// A service manager's socket.
struct Receiver {
  Scratch scratch;
  std::string path = scratch / "notify";
  UniqueFd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  Receiver() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());
    BOOST_REQUIRE(
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  }
  /// The next datagram; "" if none has come.
  std::string next() const {
    std::array<char, 4096> text;
    const ssize_t size = ::recv(socket.get(), text.data(), text.size(), 0);
    return size < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
  }
  ServiceNotifier connect(std::chrono::microseconds watchdog = {}) const {
    auto manager = must(ServiceNotifier::connect({.notify_socket = path, .watchdog = watchdog}));
    BOOST_REQUIRE(manager.has_value());
    return *std::move(manager);
  }
};

PodRecord record_of(std::vector<bool> ready) {
  PodRecord record;
  record.status = PodStatus::kRunning;
  for (const bool is_ready : ready) record.containers.emplace_back().ready = is_ready;
  return record;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(service_notifier)

BOOST_AUTO_TEST_CASE(variables_are_taken_out_of_the_environment) {
  ::setenv("NOTIFY_SOCKET", "/run/n", 1);
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  ::setenv("WATCHDOG_PID", fmt::format("{}", ::getpid()).c_str(), 1);
  const ManagerVariables ours = take_manager_variables();
  BOOST_TEST(ours.notify_socket == "/run/n");
  BOOST_TEST(ours.watchdog.count() == 3'000'000);
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"})
    BOOST_TEST(std::getenv(name) == nullptr);
  for (const char* value : {"0", "-1", "x", ""}) {
    ::setenv("WATCHDOG_USEC", value, 1);
    BOOST_TEST(take_manager_variables().watchdog.count() == 0);
  }
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  BOOST_TEST(take_manager_variables().watchdog.count() == 0);
}

BOOST_AUTO_TEST_CASE(without_a_socket_there_is_no_manager) {
  BOOST_TEST(!must(ServiceNotifier::connect({})).has_value());
  BOOST_TEST(must_fail(ServiceNotifier::connect({.notify_socket = "relative", .watchdog = {}}))
                 .starts_with("NOTIFY_SOCKET=relative: must be an absolute path or @name"));
}

BOOST_AUTO_TEST_CASE(a_life_of_a_pod) {
  const Receiver receiver;
  ServiceNotifier manager = receiver.connect();
  manager.tell_progress("app: unpacking layer 1 of 2");
  BOOST_TEST(receiver.next() ==
             "STATUS=app: unpacking layer 1 of 2\nEXTEND_TIMEOUT_USEC=120000000");
  manager.tell_progress("app: unpacking layer 2 of 2");  // within the same second
  BOOST_TEST(receiver.next() == "");
  manager.tell_starting(std::chrono::seconds(2));
  BOOST_TEST(receiver.next() == "STATUS=starting\nEXTEND_TIMEOUT_USEC=2000000");
  must(manager.tell_ready());
  BOOST_TEST(receiver.next() == "READY=1");
  manager.tell_state(record_of({true, false}));
  BOOST_TEST(receiver.next() == "STATUS=running: 1 of 2 containers ready");
  manager.tell_state(record_of({true, false}));
  BOOST_TEST(receiver.next() == "");
  BOOST_TEST(!manager.has_told_stopping());
  manager.tell_stopping(std::chrono::seconds(3));
  BOOST_TEST(receiver.next() == "STOPPING=1\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC=3000000");
  BOOST_TEST(manager.has_told_stopping());
  manager.tell_state(record_of({false, false}));
  BOOST_TEST(receiver.next() == "");
}

BOOST_AUTO_TEST_CASE(a_reason_cannot_add_lines) {
  PodRecord record = record_of({true});
  record.reason = "x\nMAINPID=1";
  const Receiver receiver;
  ServiceNotifier manager = receiver.connect();
  manager.tell_state(record);
  BOOST_TEST(receiver.next() == "STATUS=running: 1 of 1 containers ready; x\\x0aMAINPID=1");
}

BOOST_AUTO_TEST_CASE(signs_of_life_come_at_half_of_the_time) {
  using Clock = ServiceNotifier::Clock;
  const Receiver receiver;
  ServiceNotifier manager = receiver.connect(std::chrono::seconds(10));
  const Clock::time_point now = Clock::now();
  BOOST_TEST((manager.next() <= now));
  manager.tell_alive(now);
  BOOST_TEST(receiver.next() == "WATCHDOG=1");
  BOOST_TEST((manager.next() == now + std::chrono::seconds(5)));
  manager.tell_alive(now + std::chrono::seconds(4));
  BOOST_TEST(receiver.next() == "");
  manager.tell_alive(now + std::chrono::seconds(5));
  BOOST_TEST(receiver.next() == "WATCHDOG=1");
  BOOST_TEST((receiver.connect().next() == Clock::time_point::max()));
}

BOOST_AUTO_TEST_CASE(init_containers_do_not_count) {
  PodRecord record = record_of({false, true, true});
  record.containers.front().is_init = true;
  record.status = PodStatus::kStarting;
  BOOST_TEST(state_in_words(record) == "starting: 2 of 2 containers ready");
}

BOOST_AUTO_TEST_SUITE_END()
