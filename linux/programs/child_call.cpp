#include "linux/programs/child_call.hpp"

#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::linux {

Result<ChildCall> start_in_child(const std::function<Result<void>()>& act, ChildFiles files) {
  OCIRUN_TRY_ASSIGN(Pipe report, make_pipe());
  OCIRUN_TRY_ASSIGN(Child child, clone_process(0, Fd{-1}, Parentage::kMine));
  if (child.pid == 0) {
    report.reader.reset();
    if (files == ChildFiles::kStandardStreams) close_descriptors_but(std::array{Fd(report.writer)});
    const auto done = act();
    if (!done) ignore(write_all(report.writer, error_lines(done.error())));
    ::_exit(done ? 0 : 1);
  }
  return ChildCall{.child = std::move(child), .report = std::move(report.reader)};
}

namespace {

Result<std::string> read_report(const ChildCall& call) {
  constexpr std::size_t kMostError = std::size_t{1} << 20;
  return sys::read_all(call.report, kMostError);
}

Result<void> outcome(const Result<std::string>& text, int status, std::string_view doing) {
  if (status == 0) return {};
  if (text && !text->empty()) return std::unexpected(parse_error_lines(*text, std::string(doing)));
  return refuse("{}: the process {}", doing, describe_end(status));
}

}  // namespace

Result<void> outcome_of(const ChildCall& call, std::string_view doing) {
  const auto text = read_report(call);
  OCIRUN_TRY_ASSIGN(const int status, wait_for_child(call.child.pid));
  return outcome(text, status, doing);
}

Result<void> outcome_of(const ChildCall& call, int status, std::string_view doing) {
  return outcome(read_report(call), status, doing);
}

Result<void> call_in_child(const std::function<Result<void>()>& act, std::string_view doing) {
  OCIRUN_TRY_ASSIGN(const ChildCall call, start_in_child(act));
  return outcome_of(call, doing);
}

}  // namespace ocirun::linux
