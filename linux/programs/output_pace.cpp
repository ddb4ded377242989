#include "linux/programs/output_pace.hpp"

#include <algorithm>
#include <ctime>

namespace ocirun::linux {
namespace {

constexpr std::chrono::milliseconds kLongestReading{3};
constexpr int kRestForWork = 9;  // times as long as the CPU was busy
// A part of each rest: it pays for the poll before the reading, and lets the lines of a program
// that writes them one by one gather in the pipe.
constexpr std::chrono::milliseconds kLeastRest{5};

}  // namespace

OutputPace::Reading OutputPace::host_clocks() {
  timespec cpu{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return {.time = Clock::now(),
          .cpu = std::chrono::seconds(cpu.tv_sec) + std::chrono::nanoseconds(cpu.tv_nsec)};
}

bool OutputPace::has_time_left() const { return clocks_().time - begun_.time < kLongestReading; }

// A reading that waits for a slow disk uses no CPU, but keeps the supervisor from all other work.
// So the rest is also at least as long as the reading.
void OutputPace::end() {
  const Reading now = clocks_();
  const std::chrono::nanoseconds work = now.cpu - begun_.cpu;
  rests_until_ = now.time + kLeastRest +
                 std::max<Clock::duration>(kRestForWork * work, now.time - begun_.time);
}

}  // namespace ocirun::linux
