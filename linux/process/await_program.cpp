#include "linux/process/await_program.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace ocirun::linux {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds time_until(Clock::time_point deadline) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()),
                  std::chrono::milliseconds(0));
}

enum class Heard { kWords, kEnd };

// Reads the next bytes from `output`, and appends those that `kept` allows to `text`.
Result<Heard> hear(Fd output, std::size_t kept, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(output.value, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return Heard::kWords;
  if (count < 0) return fail(errno, "read its output");
  text.append(buffer.data(), std::min(static_cast<std::size_t>(count), kept - text.size()));
  return count == 0 ? Heard::kEnd : Heard::kWords;
}

Result<ProgramEnd> hear_out(Child& child, Fd output, std::size_t kept, const Interrupt& interrupt) {
  ProgramEnd end;
  auto deadline = Clock::now() + kProgramSilence;
  for (;;) {
    std::array<pollfd, 2> watched{pollfd{output.value, POLLIN, 0},
                                  pollfd{interrupt.descriptor.value, POLLIN, 0}};
    const int ready =
        ::poll(watched.data(), watched.size(), static_cast<int>(time_until(deadline).count()));
    if (ready < 0 && errno != EINTR) return fail(errno, "wait for it");
    if (ready == 0) break;
    if (ready > 0 && watched[1].revents != 0 && interrupt.check) TRY(interrupt.check());
    if (ready < 0 || watched[0].revents == 0) continue;
    TRY_ASSIGN(const Heard heard, hear(output, kept, end.output));
    if (heard == Heard::kEnd) break;
    deadline = Clock::now() + kProgramSilence;
  }
  const auto status = collect_child(child, time_until(deadline));
  if (!status)
    return fail(ETIMEDOUT, "it did not end within {} s and was killed", kProgramSilence.count());
  end.status = *status;
  return end;
}

}  // namespace

Result<ProgramEnd> await_program(Child child, Fd output, std::size_t kept, const std::string& name,
                                 const Interrupt& interrupt) {
  auto end = hear_out(child, output, kept, interrupt);
  if (!end) kill_child(child);
  return within(std::move(end), name);
}

}  // namespace ocirun::linux
