#include "runtime/compare/in_child.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/process/clone.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::runtime {

Result<void> in_child(std::string_view name, const std::function<Result<void>()>& work) {
  constexpr std::size_t kMaxText = 64 * 1024;
  TRY_ASSIGN(linux::Pipe answer, linux::make_pipe());
  TRY_ASSIGN(const linux::Child child, linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto done = work();
    if (done) ::_exit(0);
    const std::string text = linux::error_lines(done.error());
    [[maybe_unused]] const auto told =
        ::write(answer.writer.get(), text.data(), std::min(text.size(), kMaxText));
    ::_exit(1);
  }
  answer.writer.reset();
  const auto text = linux::sys::read_all(answer.reader, kMaxText);
  TRY_ASSIGN(const int status, linux::wait_for_child(child.pid));
  TRY(text);
  if (!text->empty()) return std::unexpected(linux::parse_error_lines(*text, name));
  if (status == 0) return {};
  return refuse("{} {}", name, linux::describe_end(status));
}

}  // namespace ocirun::runtime
