#include "shim/streams/pump.hpp"

#include <sys/syscall.h>

#include <boost/test/unit_test.hpp>
#include <optional>

#include "linux/base/file_io.hpp"
#include "tests/shim/streams/stream_ends.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

int splices = 0;

/// A pump whose other ends the test has.
struct PumpScene : StreamScene {
  UniqueFd writer, reader;
  int ends = 0;
  std::optional<Pump> pump;

  /// From a pipe to `sink`.
  void start(UniqueFd sink) {
    linux::Pipe source = must(linux::make_pipe());
    writer = copy_of(source.writer);
    pump.emplace(loop, copy_of(source.reader), std::move(sink), [this] { ++ends; });
    pump->start();
  }
  void start_to_fifo() {
    const std::string path = fifo("fifo");
    reader = reader_of(path);
    start(writer_of(path));
  }
  Async<> ends_once() {
    const bool has_ended = co_await comes([this] { return ends != 0; });
    BOOST_TEST(has_ended);
    co_await let_work();
    BOOST_TEST(ends == 1);
  }
  Async<> write_and_close(std::string bytes, std::size_t piece) {
    co_await write_slowly(writer, bytes, piece);
    writer.reset();
  }
};

}  // namespace

// Counts the calls of the pump.
extern "C" ssize_t splice(int in, off64_t* in_offset, int out, off64_t* out_offset,
                          std::size_t size, unsigned flags) {
  ++splices;
  return ::syscall(SYS_splice, in, in_offset, out, out_offset, size, flags);
}

BOOST_FIXTURE_TEST_SUITE(the_pump, PumpScene)

BOOST_AUTO_TEST_CASE(eight_mib_come_unchanged_to_a_slow_reader) {
  const std::string bytes = unlike_bytes(std::size_t{8} << 20);
  run([&] -> Async<> {
    start_to_fifo();
    go(write_and_close(bytes, 70'000));
    const std::string read = co_await read_slowly(reader, bytes.size() + 1, 100'000);
    BOOST_TEST(read.size() == bytes.size());
    BOOST_TEST((read == bytes));
    co_await ends_once();
  });
}

BOOST_AUTO_TEST_CASE(many_small_writes_come_unchanged) {
  const std::string bytes = unlike_bytes(20'000);
  run([&] -> Async<> {
    start_to_fifo();
    go(write_and_close(bytes, 7));
    const std::string read = co_await read_slowly(reader);
    BOOST_TEST((read == bytes));
    co_await ends_once();
  });
}

BOOST_AUTO_TEST_CASE(a_pump_whose_sink_is_full_waits) {
  run([&] -> Async<> {
    start_to_fifo();
    const std::string bytes = unlike_bytes(300'000);
    go(write_and_close(bytes, 4096));
    co_await let_work(30);
    const int before = splices;
    co_await let_work(30);
    BOOST_TEST(splices == before);
    const std::string read = co_await read_slowly(reader);
    BOOST_TEST((read == bytes));
    co_await ends_once();
  });
}

BOOST_AUTO_TEST_CASE(a_pump_whose_source_is_empty_waits) {
  run([&] -> Async<> {
    start_to_fifo();
    co_await write_slowly(writer, "bytes");
    const std::string read = co_await read_slowly(reader, 5);
    BOOST_TEST(read == "bytes");
    const int before = splices;
    co_await let_work(30);
    BOOST_TEST(splices == before);
    BOOST_TEST(ends == 0);
  });
}

BOOST_AUTO_TEST_CASE(the_end_of_the_source_closes_the_sink) {
  run([&] -> Async<> {
    start_to_fifo();
    writer.reset();
    const std::string read = co_await read_slowly(reader);
    BOOST_TEST(read == "");
    co_await ends_once();
  });
}

BOOST_AUTO_TEST_CASE(a_sink_without_a_reader_ends_the_pump_and_closes_the_source) {
  run([&] -> Async<> {
    start_to_fifo();
    reader.reset();
    co_await write_slowly(writer, "bytes");
    co_await ends_once();
    BOOST_TEST(::write(writer.get(), "x", 1) == -1);
    BOOST_TEST(errno == EPIPE);
  });
}

BOOST_AUTO_TEST_CASE(a_full_sink_whose_reader_leaves_ends_the_pump) {
  run([&] -> Async<> {
    start_to_fifo();
    const std::string bytes(65536 + 4096, 'b');
    co_await write_slowly(writer, bytes);
    co_await let_work();
    BOOST_TEST(ends == 0);
    reader.reset();
    co_await ends_once();
  });
}

BOOST_AUTO_TEST_CASE(bytes_are_appended_to_a_file) {
  const std::string path = scratch.file("log", "before\n");
  const std::string bytes = unlike_bytes(200'000);
  run([&] -> Async<> {
    start(must(linux::sys::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)));
    go(write_and_close(bytes, 65536));
    co_await ends_once();
    BOOST_TEST((slurp(path) == "before\n" + bytes));
  });
}

BOOST_AUTO_TEST_CASE(a_full_disk_loses_bytes_and_stops_nobody) {
  run([&] -> Async<> {
    start(must(linux::sys::open("/dev/full", O_WRONLY | O_CLOEXEC)));
    const std::string bytes = unlike_bytes(200'000);
    go(write_and_close(bytes, 65536));
    co_await ends_once();
  });
}

BOOST_AUTO_TEST_CASE(a_pump_that_is_destroyed_is_not_called_again) {
  run([&] -> Async<> {
    start_to_fifo();
    co_await write_slowly(writer, "bytes");
    pump.reset();
    co_await let_work();
    BOOST_TEST(ends == 0);
    BOOST_TEST(::write(writer.get(), "x", 1) == -1);
  });
}

BOOST_AUTO_TEST_SUITE_END()
