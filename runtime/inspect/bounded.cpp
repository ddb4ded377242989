#include "runtime/inspect/bounded.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"

namespace ocirun::runtime {

Result<std::string> written_within(std::chrono::milliseconds patience, std::span<const Fd> kept,
                                   const std::function<void(Fd out)>& act) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kMost = std::size_t{64} << 20;
  const Clock::time_point deadline = Clock::now() + patience;
  OCIRUN_TRY_ASSIGN(linux::Pipe pipe, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{-1}, linux::Parentage::kMine));
  if (child.pid == 0) {
    const auto nothing = linux::open_verified_null();
    if (!nothing) ::_exit(1);
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      ::dup2(nothing->get(), number);
    std::vector<Fd> open(kept.begin(), kept.end());
    open.push_back(pipe.writer);
    linux::close_descriptors_but(open);
    act(pipe.writer);
    ::_exit(0);
  }
  pipe.writer.reset();
  std::string text;
  std::array<char, 8192> part;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd wanted{pipe.reader.get(), POLLIN, 0};
    const int wait = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    if (::poll(&wanted, 1, wait) <= 0) break;
    const ssize_t count = ::read(pipe.reader.get(), part.data(), part.size());
    if (count <= 0 || text.size() >= kMost) break;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  linux::kill_child(child);
  return text;
}

}  // namespace ocirun::runtime
