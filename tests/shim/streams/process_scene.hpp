#pragma once

// The streams of a process in the tests of streams.

#include <pty.h>

#include "shim/streams/streams.hpp"
#include "tests/shim/streams/stream_ends.hpp"

namespace ocirun::test {

/// The streams of a process, whose ends the test has.
struct ProcessScene : StreamScene {
  shim::StreamNames names;
  shim::LoggedContainer container{.id = "web1", .container_namespace = "k8s.io"};
  std::unique_ptr<shim::Children> children = must(shim::Children::make(loop));
  std::shared_ptr<shim::Streams> streams;
  std::string error;
  UniqueFd in, out, err;  // of the process

  shim::Async<> open() {
    auto opened = co_await shim::Streams::open(*children, names, shim::PipeOwner{}, container);
    if (!opened) error = opened.error().message();
    if (!opened) co_return;
    streams = *std::move(opened);
    const std::vector<Fd> descriptors = streams->for_runtime();
    BOOST_TEST(descriptors.size() == 3U);
    in = copy_of(descriptors.at(0));
    out = copy_of(descriptors.at(1));
    err = copy_of(descriptors.at(2));
  }
  shim::Async<> start() {
    co_await open();
    BOOST_TEST(error == "");
    BOOST_REQUIRE(streams);
    must(streams->start(UniqueFd()));
  }
  shim::Async<> drains() {
    const bool is_drained = co_await comes([this] { return streams->drained().is_given(); });
    BOOST_TEST(is_drained);
  }
  shim::Async<> write_out_and_close(std::string bytes) {
    co_await write_slowly(out, bytes);
    out.reset();
  }
};

/// A terminal without echo, of which the shim has the master.
struct TerminalScene : ProcessScene {
  UniqueFd slave, client_in, client_out;

  /// `logger`: the name of a logging program that gets the output; "": the client gets it.
  shim::Async<> start_terminal(std::string logger = "") {
    const bool has_logger = !logger.empty();
    names = {.in = fifo("in"),
             .out = has_logger ? std::move(logger) : fifo("out"),
             .err = "",
             .terminal = true};
    if (!has_logger) client_out = reader_of(names.out);
    int master_number = -1, slave_number = -1;
    BOOST_TEST(::openpty(&master_number, &slave_number, nullptr, nullptr, nullptr) == 0);
    UniqueFd master(master_number);
    slave.reset(slave_number);
    ::fcntl(slave.get(), F_SETFL, O_NONBLOCK);
    termios modes{};
    ::tcgetattr(slave.get(), &modes);
    ::cfmakeraw(&modes);
    ::tcsetattr(slave.get(), TCSANOW, &modes);
    co_await open();
    BOOST_TEST(error == "");
    must(streams->start(std::move(master)));
    client_in = writer_of(names.in);
  }
};

}  // namespace ocirun::test
