#include "linux/base/message_socket.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <numeric>

#include "linux/process/clone.hpp"
#include "tests/child_test.hpp"
#include "tests/descriptors.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

struct Ends {
  MessageSocket left, right;
};
Ends connected() {
  auto pair = must(MessageSocket::make_pair());
  return {std::move(pair.first), std::move(pair.second)};
}

UniqueFd open_null() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(message_socket)

BOOST_AUTO_TEST_CASE(packets_arrive_whole_in_their_order_and_with_their_tags) {
  const Ends ends = connected();
  must(ends.left.send(1, "one"));
  must(ends.left.send(255, std::string_view("t\0o", 3)));
  must(ends.left.send(0));
  must(ends.right.send(9, "back"));
  Packet packet = must(ends.right.receive());
  BOOST_TEST(packet.tag == 1);
  BOOST_TEST(packet.payload == "one");
  BOOST_TEST(packet.descriptors.empty());
  BOOST_TEST(!packet.end_of_stream);
  packet = must(ends.right.receive());
  BOOST_TEST(packet.tag == 255);
  BOOST_TEST(packet.payload == std::string("t\0o", 3));
  packet = must(ends.right.receive());
  BOOST_TEST(packet.tag == 0);
  BOOST_TEST(packet.payload.empty());
  BOOST_TEST(!packet.end_of_stream);
  BOOST_TEST(must(ends.left.receive()).payload == "back");
}

BOOST_AUTO_TEST_CASE(packets_by_write_and_read_are_the_same_as_others) {
  Ends ends = connected();
  ends.left.talk_by(SendBy::kWrite, ReceiveBy::kRead);
  const std::string longest(MessageSocket::kMaxPayload, 'x');
  must(ends.left.send(7, longest));
  must(ends.left.send(0));
  must(ends.right.send(9, "back"));
  Packet packet = must(ends.right.receive());
  BOOST_TEST(packet.tag == 7);
  BOOST_TEST((packet.payload == longest));
  packet = must(ends.right.receive());
  BOOST_TEST(packet.tag == 0);
  BOOST_TEST(packet.payload.empty());
  packet = must(ends.left.receive());
  BOOST_TEST(packet.tag == 9);
  BOOST_TEST(packet.payload == "back");
  ends.right.close();
  BOOST_TEST(must(ends.left.receive()).end_of_stream);
}

BOOST_AUTO_TEST_CASE(both_ends_are_close_on_exec) {
  const Ends ends = connected();
  for (const Fd fd : {ends.left.fd(), ends.right.fd()})
    BOOST_TEST((::fcntl(fd.value, F_GETFD) & FD_CLOEXEC) != 0);
}

BOOST_AUTO_TEST_CASE(the_largest_payload_arrives_and_a_larger_one_is_not_sent) {
  const Ends ends = connected();
  std::string payload(MessageSocket::kMaxPayload, '\0');
  std::iota(payload.begin(), payload.end(), '\0');
  must(ends.left.send(3, payload));
  BOOST_TEST((must(ends.right.receive()).payload == payload));
  payload += 'x';
  BOOST_TEST(ends.left.send(3, payload).error().number() == EMSGSIZE);
  must(ends.left.send(4));  // nothing of it was sent
  BOOST_TEST(must(ends.right.receive()).tag == 4);
}

BOOST_AUTO_TEST_CASE(descriptors_arrive_as_copies_that_close_on_exec) {
  const Ends ends = connected();
  int pipe_ends[2];
  BOOST_REQUIRE(::pipe2(pipe_ends, O_CLOEXEC) == 0);
  {
    const UniqueFd writer(pipe_ends[1]);
    const Fd both[] = {writer, ends.left.fd()};
    must(ends.left.send(1, "take it", both));
  }
  const Packet packet = must(ends.right.receive());
  BOOST_REQUIRE(packet.descriptors.size() == 2u);
  for (const UniqueFd& fd : packet.descriptors)
    BOOST_TEST((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  BOOST_TEST(::write(packet.descriptors[0].get(), "y", 1) == 1);
  char byte = 0;
  BOOST_TEST(::read(pipe_ends[0], &byte, 1) == 1);
  BOOST_TEST(byte == 'y');
  ::close(pipe_ends[0]);
}

BOOST_AUTO_TEST_CASE(as_many_descriptors_as_the_kernel_carries_arrive_and_none_leaks) {  // 253
  const Descriptors before = open_descriptors();
  {
    const Ends ends = connected();
    std::vector<UniqueFd> owners;
    std::vector<Fd> descriptors;
    for (std::size_t i = 0; i < MessageSocket::kMaxDescriptors; ++i) {
      owners.push_back(open_null());
      BOOST_REQUIRE(owners.back().get() >= 0);
      descriptors.push_back(owners.back());
    }
    must(ends.left.send(2, std::string(MessageSocket::kMaxPayload, 'p'), descriptors));
    {
      const Packet packet = must(ends.right.receive());
      BOOST_TEST(packet.descriptors.size() == MessageSocket::kMaxDescriptors);
      for (const UniqueFd& fd : packet.descriptors) BOOST_TEST(::fcntl(fd.get(), F_GETFD) >= 0);
    }
    descriptors.push_back(owners.front());
    BOOST_TEST(ends.left.send(2, {}, descriptors).error().number() == EMSGSIZE);
  }
  BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_is_closed_is_the_kernels_error) {
  const Ends ends = connected();
  const Fd closed{123456};
  BOOST_TEST(ends.left.send(1, {}, std::span(&closed, 1)).error().number() == EBADF);
}

BOOST_AUTO_TEST_CASE(a_packet_that_is_longer_than_any_of_ours_is_an_error_and_not_a_shorter_one) {
  const Ends ends = connected();
  const std::string long_one(MessageSocket::kMaxPayload + 2, 'x');
  const int size = 1 << 20;
  ::setsockopt(ends.left.fd().value, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  BOOST_REQUIRE(::send(ends.left.fd().value, long_one.data(), long_one.size(), MSG_NOSIGNAL) > 0);
  BOOST_TEST(ends.right.receive().error().number() == EMSGSIZE);
}

// With fewer descriptors than were sent, each would be taken for another one.
BOOST_AUTO_TEST_CASE(descriptors_that_do_not_fit_the_limit_are_an_error_and_none_leaks) {
  BOOST_TEST(run_in_child(0, [] {
               const Ends ends = connected();
               std::vector<UniqueFd> owners;
               std::vector<Fd> descriptors;
               for (int i = 0; i < 20; ++i) {
                 owners.push_back(open_null());
                 descriptors.push_back(owners.back());
               }
               must(ends.left.send(2, "many", descriptors));
               owners.clear();
               const Descriptors before = open_descriptors();
               // At most three free descriptor numbers remain below the limit.
               const rlimit limit{static_cast<rlim_t>(ends.right.fd().value) + 4, 4096};
               BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
               const auto packet = ends.right.receive();
               const rlimit wide{1024, 4096};
               BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &wide) == 0);
               BOOST_REQUIRE(!packet);
               BOOST_TEST(packet.error().number() == EMSGSIZE);
               BOOST_TEST(open_descriptors() == before);
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_closed_peer_is_the_end_of_the_stream_after_what_it_had_sent) {
  Ends ends = connected();
  must(ends.left.send(7, "last words"));
  ends.left.close();
  BOOST_TEST(must(ends.right.receive()).payload == "last words");
  for (int again = 0; again < 2; ++again) {
    const Packet packet = must(ends.right.receive());
    BOOST_TEST(packet.end_of_stream);
    BOOST_TEST(packet.descriptors.empty());
  }
}

// If a peer closes with unread packets, the kernel reports ECONNRESET. For us this is the end of
// the stream.
BOOST_AUTO_TEST_CASE(a_peer_that_died_with_unread_packets_is_the_end_of_the_stream) {
  Ends ends = connected();
  must(ends.right.send(1, "unread"));
  ends.left.close();
  BOOST_TEST(must(ends.right.receive()).end_of_stream);
}

BOOST_AUTO_TEST_CASE(sending_to_a_closed_peer_is_epipe_and_no_signal) {
  BOOST_TEST(run_in_child(0, [] {
               ::signal(SIGPIPE, SIG_DFL);
               Ends ends = connected();
               ends.right.close();
               BOOST_TEST(ends.left.send(1, "anyone?").error().number() == EPIPE);
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_signal_does_not_end_the_wait_for_a_packet) {
  struct sigaction old{};
  struct sigaction on_alarm{};
  on_alarm.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &on_alarm, &old);
  const Ends ends = connected();
  const Child child = must(clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) {
    for (int i = 0; i < 3; ++i) {
      ::usleep(20'000);
      ::kill(::getppid(), SIGALRM);
    }
    ::usleep(20'000);
    ::_exit(ends.left.send(5, "at last") ? 0 : 1);
  }
  BOOST_TEST(must(ends.right.receive()).payload == "at last");
  BOOST_TEST(must(wait_for_child(child.pid)) == 0);
  ::sigaction(SIGALRM, &old, nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
