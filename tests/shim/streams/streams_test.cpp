#include "shim/streams/streams.hpp"

#include <sys/ioctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "linux/base/file_io.hpp"
#include "tests/shim/streams/process_scene.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

BOOST_FIXTURE_TEST_SUITE(standard_streams, ProcessScene)

BOOST_AUTO_TEST_CASE(streams_without_names_are_the_null_device) {
  run([&] -> Async<> {
    co_await start();
    char byte = 0;
    BOOST_TEST(::read(in.get(), &byte, 1) == 0);
    BOOST_TEST(::write(out.get(), "x", 1) == 1);
    BOOST_TEST(::write(err.get(), "x", 1) == 1);
    BOOST_TEST(streams->drained().is_given());
  });
}

BOOST_AUTO_TEST_CASE(output_comes_through_fifos_and_ends_with_the_writers) {
  run([&] -> Async<> {
    names.out = fifo("out");
    names.err = "fifo://" + fifo("err");
    const UniqueFd out_reader = reader_of(names.out), err_reader = reader_of(scratch / "err");
    co_await start();
    co_await write_slowly(out, "to out");
    co_await write_slowly(err, "to err");
    const UniqueFd second_writer = copy_of(out);
    out.reset();
    err.reset();
    const std::string err_read = co_await read_slowly(err_reader);
    BOOST_TEST(err_read == "to err");
    const std::string out_read = co_await read_slowly(out_reader, 6);
    BOOST_TEST(out_read == "to out");
    char byte = 0;
    co_await let_work();
    BOOST_TEST(::read(out_reader.get(), &byte, 1) == -1);  // a writer is left
    BOOST_TEST(!streams->drained().is_given());
    co_await write_slowly(second_writer, "!");
    const std::string more = co_await read_slowly(out_reader, 1);
    BOOST_TEST(more == "!");
  });
}

BOOST_AUTO_TEST_CASE(a_reader_that_leaves_and_returns_loses_nothing) {
  const std::string bytes = unlike_bytes(500'000);
  run([&] -> Async<> {
    names.out = fifo("out");
    co_await start();
    go(write_out_and_close(bytes));
    std::string read;
    for (int i = 0; i < 4; ++i) {
      co_await let_work();  // without a reader
      const UniqueFd reader = reader_of(names.out);
      read += co_await read_slowly(reader, 100'001);
    }
    co_await let_work();
    const UniqueFd reader = reader_of(names.out);
    read += co_await read_slowly(reader);
    BOOST_TEST((read == bytes));
    co_await drains();
  });
}

BOOST_AUTO_TEST_CASE(input_comes_from_a_fifo_and_does_not_end_when_a_client_leaves) {
  run([&] -> Async<> {
    names.in = fifo("in");
    co_await start();
    for (const std::string word : {"first", "second"}) {
      const UniqueFd client = writer_of(names.in);
      co_await write_slowly(client, word);
      const std::string read = co_await read_slowly(in, word.size());
      BOOST_TEST(read == word);
    }
    co_await let_work();
    char byte = 0;
    BOOST_TEST(::read(in.get(), &byte, 1) == -1);
    streams->close_stdin();
    const std::string rest = co_await read_slowly(in);
    BOOST_TEST(rest == "");
  });
}

BOOST_AUTO_TEST_CASE(input_that_was_written_before_its_end_comes_through) {
  const std::string bytes = unlike_bytes(190'000);  // more than a pipe holds
  run([&] -> Async<> {
    names.in = fifo("in");
    co_await start();
    {
      const UniqueFd client = writer_of(names.in);
      for (std::string_view left = bytes; !left.empty();) {
        const ssize_t count = ::write(client.get(), left.data(), left.size());
        if (count > 0) left.remove_prefix(static_cast<std::size_t>(count));
        std::string read;
        if (count < 0) {  // the two pipes are full
          read = co_await read_slowly(in, 10'000);
          BOOST_TEST(bytes.contains(read));
        }
        co_await let_work(1);
      }
    }
    streams->close_stdin();
    const std::string rest = co_await read_slowly(in);
    BOOST_TEST(bytes.ends_with(rest));
    BOOST_TEST(rest.size() > 60'000U);
  });
}

BOOST_AUTO_TEST_CASE(input_may_end_before_the_streams_start) {
  run([&] -> Async<> {
    names.in = fifo("in");
    co_await open();
    {
      const UniqueFd client = writer_of(names.in);
      co_await write_slowly(client, "all");
    }
    streams->close_stdin();
    must(streams->start(UniqueFd()));
    const std::string read = co_await read_slowly(in);
    BOOST_TEST(read == "all");
  });
}

BOOST_AUTO_TEST_CASE(input_comes_from_a_file_and_ends_with_it) {
  const std::string bytes = unlike_bytes(300'000);
  run([&] -> Async<> {
    names.in = "file://" + scratch.file("in", bytes);
    co_await open();
    BOOST_TEST(error == "");
    if (!streams) co_return;
    const auto started = streams->start(UniqueFd());
    BOOST_TEST((started ? "" : started.error().message()) == "");
    if (!started) co_return;
    const std::string read = co_await read_slowly(in, bytes.size() + 1, 10'000);
    BOOST_TEST((read == bytes));
  });
}

BOOST_AUTO_TEST_CASE(more_than_a_pipe_holds_is_moved_before_the_process_has_started) {
  const std::string bytes = unlike_bytes(190'000);
  run([&] -> Async<> {
    names.err = "file://" + (scratch / "log");
    co_await open();
    streams->start_pipes();
    co_await write_slowly(err, bytes);
    err.reset();
    must(streams->start(UniqueFd()));
    co_await drains();
    const std::string logged = slurp(scratch / "log");
    BOOST_TEST((logged == bytes));
  });
}

BOOST_AUTO_TEST_CASE(output_is_appended_to_files) {
  run([&] -> Async<> {
    names.out = "file://" + scratch.file("out", "before ");
    names.err = "file://" + (scratch / "%65rr");
    co_await start();
    co_await write_slowly(out, "to out");
    co_await write_slowly(err, "to err");
    out.reset();
    err.reset();
    co_await drains();
    BOOST_TEST(slurp(scratch / "out") == "before to out");
    BOOST_TEST(slurp(scratch / "err") == "to err");
    BOOST_TEST(mode_of(scratch / "err") == 0600);
  });
}

BOOST_AUTO_TEST_CASE(a_fifo_that_its_client_has_removed_does_not_become_a_file) {
  run([&] -> Async<> {
    names.out = scratch / "gone";
    co_await open();
    BOOST_TEST(error.contains("no such file"));
    BOOST_TEST(!std::filesystem::exists(scratch / "gone"));
  });
}

BOOST_AUTO_TEST_CASE(both_streams_may_go_to_one_file) {
  run([&] -> Async<> {
    names.out = names.err = "file://" + (scratch / "log");
    co_await start();
    for (int i = 0; i < 100; ++i) {
      co_await write_slowly(out, "o");
      co_await write_slowly(err, "e");
      if (i % 10 == 0) co_await let_work(1);
    }
    out.reset();
    err.reset();
    co_await drains();
    const std::string log = slurp(scratch / "log");
    BOOST_TEST(log.size() == 200U);
    BOOST_TEST(std::ranges::count(log, 'o') == 100);
  });
}

BOOST_AUTO_TEST_CASE(a_scheme_that_is_not_known_is_an_error_that_names_those_that_are) {
  run([&] -> Async<> {
    for (std::string StreamNames::* const name :
         {&StreamNames::in, &StreamNames::out, &StreamNames::err}) {
      names = {};
      names.*name = "ftp:///log";
      error.clear();
      co_await open();
      BOOST_TEST(error ==
                 "ftp:///log: streams of the scheme ftp are not supported (fifo, file, binary)");
    }
  });
}

BOOST_AUTO_TEST_CASE(a_path_that_cannot_be_opened_is_an_error_that_names_it) {
  run([&] -> Async<> {
    names.in = scratch / "none";
    co_await open();
    BOOST_TEST(error.contains(names.in));
    names = {};
    names.out = scratch / "no/directory";
    co_await open();
    BOOST_TEST(error.contains(names.out));
  });
}

BOOST_AUTO_TEST_CASE(without_a_terminal_there_is_no_size) {
  run([&] -> Async<> {
    co_await start();
    BOOST_TEST(must_fail(streams->resize(80, 24)) == "the process has no terminal");
  });
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(terminal_streams, TerminalScene)

BOOST_AUTO_TEST_CASE(a_terminal_is_moved_both_ways_to_its_end) {
  const std::string bytes = unlike_bytes(200'000);
  run([&] -> Async<> {
    co_await start_terminal();
    co_await write_slowly(client_in, "typed");
    const std::string typed = co_await read_slowly(slave, 5);
    BOOST_TEST(typed == "typed");
    std::string shown;
    for (std::string_view left = bytes; !left.empty();
         left.remove_prefix(std::min<std::size_t>(2000, left.size()))) {
      co_await write_slowly(slave, left.substr(0, 2000));
      shown += co_await read_slowly(client_out, std::min<std::size_t>(2000, left.size()));
    }
    BOOST_TEST((shown == bytes));
    BOOST_TEST(!streams->drained().is_given());
    slave.reset();
    co_await drains();
    const std::string rest = co_await read_slowly(client_out);
    BOOST_TEST(rest == "");
  });
}

BOOST_AUTO_TEST_CASE(what_the_client_reads_late_is_not_lost_with_the_terminal) {
  const std::string bytes = unlike_bytes(150'000);
  run([&] -> Async<> {
    co_await start_terminal();
    std::size_t written = 0;
    for (int idle = 0; idle < 20 && written < bytes.size();) {
      const ssize_t count = ::write(slave.get(), bytes.data() + written, bytes.size() - written);
      if (count > 0) written += static_cast<std::size_t>(count);
      idle = count > 0 ? 0 : idle + 1;
      co_await let_work(1);
    }
    slave.reset();
    co_await let_work();
    const std::string shown = co_await read_slowly(client_out);
    BOOST_TEST(shown.size() == written);
    BOOST_TEST(bytes.starts_with(shown));
    co_await drains();
  });
}

BOOST_AUTO_TEST_CASE(input_that_the_process_does_not_read_waits) {
  const std::string bytes(30'000, 'i');
  run([&] -> Async<> {
    co_await start_terminal();
    co_await write_slowly(client_in, bytes);
    co_await let_work();
    const std::string typed = co_await read_slowly(slave, bytes.size(), 1000);
    BOOST_TEST((typed == bytes));
  });
}

BOOST_AUTO_TEST_CASE(a_terminal_is_resized) {
  run([&] -> Async<> {
    co_await start_terminal();
    must(streams->resize(132, 43));
    winsize size{};
    BOOST_TEST(::ioctl(slave.get(), TIOCGWINSZ, &size) == 0);
    BOOST_TEST(int{size.ws_col} == 132);
    BOOST_TEST(int{size.ws_row} == 43);
  });
}

BOOST_AUTO_TEST_CASE(the_error_output_of_a_terminal_goes_nowhere) {
  run([&] -> Async<> {
    names.err = fifo("err");
    co_await start_terminal();
    slave.reset();
    co_await drains();
  });
}

BOOST_AUTO_TEST_SUITE_END()
