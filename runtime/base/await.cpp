#include "runtime/base/await.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "runtime/base/signals.hpp"

namespace ocirun::runtime {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Result<void> await_word(Fd fd, Fd end, const OnSilence& on_silence, const Tick& tick) {
  const auto begin = Clock::now();
  std::array<pollfd, 3> watched{pollfd{fd.value, POLLIN, 0},
                                pollfd{Signals::descriptor().value, POLLIN, 0},
                                pollfd{end.value, POLLIN, 0}};
  for (auto next = kSilence;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(begin + next - Clock::now());
    const auto silence = std::max(left, std::chrono::milliseconds(0));
    const auto patience = tick.call ? std::min(silence, tick.period) : silence;
    const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(patience.count()));
    if (ready < 0 && errno != EINTR) return fail(errno, "wait");
    if (watched[0].revents != 0) return {};
    if (watched[1].revents != 0) TRY(Signals::check());
    if (watched[2].revents != 0) return {};
    if (ready != 0) continue;
    if (tick.call) tick.call();
    if (Clock::now() < begin + next) continue;
    TRY(on_silence(next));
    next += kSilence;
  }
}

}  // namespace ocirun::runtime
