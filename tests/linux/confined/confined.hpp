#pragma once

#include <csignal>
#include <functional>
#include <string>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/process/clone.hpp"
#include "tests/must.hpp"

namespace ocirun::test {

/// What a fork of the test says, and the status of waitpid(2) that it ends with.
struct Said {
  std::string text;
  int status = 0;
};

/// Calls `confine` in a fork of the test, with a descriptor that must stay open, and then `look`,
/// whose text comes back through the descriptor; or the error of `confine`.
inline Said say_confined(const std::function<Result<void>(Fd)>& confine,
                         const std::function<std::string()>& look) {
  linux::Pipe pipe = must(linux::make_pipe());
  const linux::Child child = must(linux::clone_process(0, Fd{-1}, linux::Parentage::kMine));
  if (child.pid == 0) {
    for (const int number : {SIGABRT, SIGSEGV, SIGSYS}) ::signal(number, SIG_DFL);  // not Boost's
    const auto confined = confine(pipe.writer);
    ignore(linux::write_all(pipe.writer, confined ? look() : confined.error().message()));
    ::_exit(0);
  }
  pipe.writer.reset();
  std::string text = must(linux::sys::read_all(pipe.reader, std::size_t{1} << 20));
  return {.text = std::move(text), .status = must(linux::wait_for_child(child.pid))};
}

}  // namespace ocirun::test
